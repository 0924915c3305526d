"use strict";
// The editor of a policy: CodeMirror over a text field that works without it. Other scripts read the field, hear its
// "input" events, and set its text by an event "policy:set" whose detail is the text.
import * as cm from "./vendor/codemirror-6.min.js";
import { choices, placeAt, schemasAt, useIn } from "./policies_words.js";

const PAUSE = 250;
const SEVERITIES = { error: "error", warning: "warning", info: "info" };
const color = (name) => `var(--${name})`;

const theme = cm.EditorView.theme({
  "&": { color: color("ink"), backgroundColor: color("paper"), border: `1px solid ${color("line")}`, borderRadius: color("round") },
  "&.cm-focused": { outline: `3px solid ${color("mark")}`, outlineOffset: "2px" },
  ".cm-scroller": { fontFamily: color("mono"), fontSize: ".92rem", lineHeight: "1.5", minHeight: "24rem", maxHeight: "75vh", overflow: "auto" },
  ".cm-content": { caretColor: color("ink") },
  ".cm-cursor": { borderLeftColor: color("ink") },
  ".cm-gutters": { color: color("quiet"), backgroundColor: color("soft"), borderRight: `1px solid ${color("edge")}` },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: color("soft") },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": { backgroundColor: `color-mix(in srgb, ${color("mark")} 28%, transparent)` },
  ".cm-panels, .cm-tooltip": { color: color("ink"), backgroundColor: color("soft"), border: `1px solid ${color("line")}` },
  ".cm-tooltip": { maxWidth: "30rem", fontFamily: color("sans"), fontSize: ".92rem" },
  ".cm-tooltip-autocomplete > ul > li[aria-selected]": { color: color("on-mark"), backgroundColor: color("mark") },
  ".cm-completionInfo": { padding: ".4rem .6rem" },
  ".about": { padding: ".4rem .7rem" },
  ".about button": { font: "inherit", color: color("link"), background: "none", border: "0", padding: "0", textDecoration: "underline", cursor: "pointer" },
  ".cm-diagnostic": { color: color("ink") },
  ".cm-lintRange": { backgroundImage: "none !important" },
  ".cm-lintRange-error": { textDecoration: `underline wavy ${color("bad")}` },
  ".cm-lintRange-warning": { textDecoration: `underline wavy ${color("warn")}` },
  ".cm-lintRange-info": { textDecoration: `underline dotted ${color("quiet")}` },
  ".cm-lint-marker": { content: "normal !important", width: ".65em", height: ".65em", margin: ".4em .2em", borderRadius: "50%" },
  ".cm-lint-marker-error": { background: color("bad"), borderRadius: "0" },
  ".cm-lint-marker-warning": { background: color("warn") },
  ".cm-lint-marker-info": { background: color("quiet") },
  ".cm-button, .cm-textfield": { color: "inherit", background: color("paper"), border: `1px solid ${color("line")}`, font: "inherit" },
});
const colors = cm.HighlightStyle.define([
  { tag: cm.tags.definition(cm.tags.propertyName), color: color("link") },
  { tag: cm.tags.propertyName, color: color("link") },
  { tag: cm.tags.comment, color: color("quiet"), fontStyle: "italic" },
  { tag: cm.tags.string, color: color("good") },
  { tag: [cm.tags.keyword, cm.tags.meta, cm.tags.labelName], color: color("warn") },
]);

class Editor {
  constructor(box) {
    this.box = box;
    this.field = box.querySelector("textarea");
    this.form = this.field.form;
    this.findings = document.querySelector("[data-findings]");
    this.explained = document.querySelector("[data-explained]");
    this.drawing = document.querySelector("[data-drawing]");
    this.names = JSON.parse(this.findings?.dataset.names ?? "{}");
    this.words = null;
    this.saved = this.field.value;
    this.build();
    this.load();
    this.listen();
    this.mark();
    this.toPlace();
  }

  build() {
    const host = document.createElement("div");
    host.className = "code";
    const root = host.attachShadow({ mode: "open" });
    this.box.append(host);
    this.field.closest(".field").hidden = true;
    const keys = document.createElement("p");
    keys.className = "hint";
    keys.textContent = this.box.dataset.keys;
    this.box.append(keys);
    this.view = new cm.EditorView({
      parent: root,
      root,
      state: cm.EditorState.create({ doc: this.field.value, extensions: this.extensions() }),
    });
  }

  extensions() {
    return [
      cm.lineNumbers(), cm.lintGutter(), cm.foldGutter(), cm.history(), cm.drawSelection(), cm.highlightSpecialChars(),
      cm.indentOnInput(), cm.bracketMatching(), cm.closeBrackets(), cm.highlightActiveLine(), cm.highlightActiveLineGutter(),
      cm.search({ top: true }), cm.highlightSelectionMatches(), cm.yaml(), cm.syntaxHighlighting(colors), theme,
      cm.EditorState.tabSize.of(2), cm.EditorState.phrases.of(JSON.parse(this.box.dataset.phrases ?? "{}")),
      cm.EditorView.contentAttributes.of({ "aria-label": this.box.dataset.label, spellcheck: "false", tabindex: "0" }),
      cm.EditorView.updateListener.of((update) => update.docChanged && this.changed()),
      cm.autocompletion({ override: [(context) => this.complete(context)] }),
      cm.hoverTooltip((view, position) => this.about(position)),
      cm.keymap.of([
        { key: "F1", run: () => this.explainAt(this.view.state.selection.main.head) },
        { key: "Mod-s", run: () => (this.form.requestSubmit(), true) },
        ...cm.closeBracketsKeymap, ...cm.completionKeymap, ...cm.lintKeymap, ...cm.searchKeymap, ...cm.foldKeymap,
        ...cm.historyKeymap, ...cm.defaultKeymap,
      ]),
    ];
  }

  async load() {
    const answer = await fetch(this.box.dataset.words, { headers: { accept: "application/json" } });
    if (answer.ok) this.words = await answer.json();
  }

  listen() {
    this.field.addEventListener("policy:set", (event) => this.set(event.detail));
    this.form.addEventListener("submit", () => (this.leaving = true));
    window.addEventListener("beforeunload", (event) => {
      if (!this.leaving && this.field.value !== this.saved) event.preventDefault();
    });
    window.addEventListener("hashchange", () => this.toPlace());
    document.addEventListener("click", (event) => {
      const code = event.target.closest("a[data-explain]");
      if (!code || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      this.explain(code.dataset.explain);
    });
  }

  set(text) {
    const old = this.view.state.doc.toString();
    if (text === old) return;
    let start = 0;
    while (start < Math.min(text.length, old.length) && text[start] === old[start]) start++;
    let end = 0;
    while (end < Math.min(text.length, old.length) - start && text.at(-1 - end) === old.at(-1 - end)) end++;
    this.view.dispatch({ changes: { from: start, to: old.length - end, insert: text.slice(start, text.length - end) } });
  }

  changed() {
    this.field.value = this.view.state.doc.toString();
    this.field.dispatchEvent(new Event("input", { bubbles: true }));
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.check(), PAUSE);
  }

  async check() {
    this.asking?.abort();
    this.asking = new AbortController();
    const body = new URLSearchParams({ text: this.field.value, form_token: this.form.elements.form_token.value });
    try {
      const answer = await fetch(this.box.dataset.check, { method: "POST", body, signal: this.asking.signal });
      if (!answer.ok || !this.findings) return;
      const part = document.createElement("template");
      part.innerHTML = await answer.text();
      const found = part.content.querySelector("[data-findings]");
      this.findings.replaceChildren(...found.childNodes);
      this.drawing?.replaceChildren(...part.content.querySelector("[data-drawing]").childNodes);
      this.names = JSON.parse(found.dataset.names);
      this.mark();
    } catch (error) {
      if (error.name !== "AbortError") throw error;
    }
  }

  mark() {
    const diagnostics = [...(this.findings?.querySelectorAll("li[data-line]") ?? [])].map((item) => ({
      from: this.offset(item.dataset.line, item.dataset.column),
      to: this.offset(item.dataset.endLine, item.dataset.endColumn),
      severity: SEVERITIES[item.dataset.severity] ?? "info",
      source: item.querySelector("[data-explain]")?.dataset.explain,
      message: [".message", ".hint"].map((part) => item.querySelector(part)?.textContent ?? "").filter(Boolean).join("\n"),
    }));
    for (const each of diagnostics) each.to = Math.max(each.to, Math.min(each.from + 1, this.view.state.doc.length));
    this.view.dispatch(cm.setDiagnostics(this.view.state, diagnostics));
  }

  offset(row, column) {
    const doc = this.view.state.doc;
    const line = doc.line(Math.min(Math.max(Number(row), 1), doc.lines));
    // the server counts characters, an editor counts UTF-16 units
    const before = [...line.text].slice(0, Number(column) - 1).join("");
    return Math.min(line.from + before.length, line.to);
  }

  toPlace() {
    const found = /^#line-(\d+)$/.exec(location.hash);
    if (!found) return;
    const at = this.offset(found[1], 1);
    this.view.dispatch({ selection: { anchor: at }, effects: cm.EditorView.scrollIntoView(at, { y: "center" }) });
    this.view.focus();
  }

  place(position) {
    const line = this.view.state.doc.lineAt(position);
    const lines = this.view.state.doc.toString().split("\n");
    return { place: placeAt(lines, line.number - 1, position - line.from), lines };
  }

  complete(context) {
    if (!this.words) return null;
    const { place, lines } = this.place(context.pos);
    const word = /[^\s,[\]{}]*$/.exec(place.word)[0];
    if (!word && !context.explicit) return null;
    const options = choices(this.words, place, this.names, (section, name) => useIn(lines, section, name));
    return {
      from: context.pos - word.length,
      options: options.map((each) => ({
        label: each.label,
        apply: each.key ? `${each.label}: ` : each.label,
        type: each.key ? "property" : "enum",
        info: each.info || undefined,
      })),
      validFor: /^[^\s,[\]{}:]*$/,
    };
  }

  /** The description of the key under the pointer, with a way to its page. */
  about(position) {
    const word = this.view.state.wordAt(position);
    if (!this.words || !word) return null;
    const line = this.view.state.doc.lineAt(position);
    const colon = /^["']?\s*:/.exec(line.text.slice(word.to - line.from));
    if (!colon) return null;
    const { place, lines } = this.place(Math.min(word.to + colon[0].length, line.to));
    const found = schemasAt(this.words, place.path, (section, name) => useIn(lines, section, name));
    const description = found.find(({ node }) => node.description)?.node.description;
    if (!description) return null;
    const term = this.view.state.sliceDoc(word.from, word.to);
    return { pos: word.from, end: word.to, above: true, create: () => ({ dom: this.tip(description, term) }) };
  }

  tip(description, term) {
    const dom = document.createElement("div");
    dom.className = "about";
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = this.box.dataset.more;
    button.addEventListener("click", () => this.explain(term));
    dom.append(`${description} `, button);
    return dom;
  }

  explainAt(position) {
    const word = this.view.state.wordAt(position);
    const { place } = this.place(position);
    this.explain(word ? this.view.state.sliceDoc(word.from, word.to) : "", ...place.path.toReversed());
    return true;
  }

  /** Show the page of the first of these words that has one. */
  async explain(...terms) {
    for (const term of terms.filter(Boolean)) {
      const answer = await fetch(`/explain/${encodeURIComponent(term)}?part=yes`);
      if (!answer.ok || !this.explained) continue;
      this.explained.innerHTML = await answer.text();
      this.explained.scrollIntoView({ block: "nearest" });
      return;
    }
  }
}

for (const box of document.querySelectorAll("[data-editor]")) new Editor(box);
