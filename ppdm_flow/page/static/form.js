"use strict";
// Keeps form and YAML in step: a change of the form goes into the text, and the form follows the text.

const PAUSE = 600;

class PolicyForm {
  constructor(form) {
    this.form = form;
    this.side = form.querySelector("[data-form-side]");
    this.text = form.elements.text;
    this.setting = false;
    form.addEventListener("change", (event) => this.changed(event.target));
    form.addEventListener("input", (event) => this.typed(event.target));
    form.addEventListener("click", (event) => this.pressed(event));
  }

  changed(field) {
    if (field.closest("[data-form-left]") && !field.closest("[data-later]")) this.ask();
  }

  typed(field) {
    if (field !== this.text || this.setting) return;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.ask({ text_only: "yes" }), PAUSE);
  }

  pressed(event) {
    const button = event.target.closest("button[data-fill]");
    if (!button) return;
    event.preventDefault();
    this.ask(button.name ? { [button.name]: button.value } : {}, button.closest("[data-later]"));
  }

  /** What the form holds; of the fields for new entries only those of the part whose button was pressed. */
  body(more, adding) {
    const body = new URLSearchParams(new FormData(this.form));
    for (const part of this.form.querySelectorAll("[data-later]")) {
      if (part === adding) continue;
      for (const field of part.querySelectorAll("[name]")) body.delete(field.name);
    }
    for (const [name, value] of Object.entries({ ...more, part: "yes" })) body.set(name, value);
    return body;
  }

  async ask(more = {}, adding = null) {
    clearTimeout(this.timer);
    this.asking?.abort();
    this.asking = new AbortController();
    const active = document.activeElement;
    const sent = active?.value;
    const text = this.text.value;
    try {
      const answer = await fetch(this.form.dataset.form, { method: "POST", body: this.body(more, adding), signal: this.asking.signal });
      if (!answer.ok) return;
      const part = document.createElement("template");
      part.innerHTML = await answer.text();
      if (this.text.value === text) this.show(part.content.querySelector("[data-form-left]"), sent);
      else this.ask({ text_only: "yes" });
    } catch (error) {
      if (error.name !== "AbortError") throw error;
    }
  }

  show(left, sent) {
    if ("unfit" in left.dataset) {
      const notice = left.querySelector("[data-form-notice]");
      this.side.querySelector("[data-form-notice]").replaceChildren(...notice.childNodes);
      return;
    }
    const active = document.activeElement;
    const inside = this.side.contains(active) && active.id;
    const open = [...this.side.querySelectorAll("details[open]")].map((each) => this.place(each));
    this.side.replaceChildren(left);
    for (const each of this.side.querySelectorAll("details")) each.open = open.includes(this.place(each));
    const again = inside ? document.getElementById(active.id) : null;
    if (again) {
      if (active.value !== sent && "value" in again) again.value = active.value;
      again.focus();
    }
    this.set(left.querySelector("[name=base]").value);
  }

  /** A word for a part that can be opened: where it stands. */
  place(details) {
    return `${details.closest("fieldset")?.id ?? ""} ${details.querySelector("summary").textContent}`;
  }

  set(text) {
    if (this.text.value === text) return;
    this.setting = true;
    this.text.dispatchEvent(new CustomEvent("policy:set", { detail: text }));
    if (this.text.value !== text) this.text.value = text;
    this.setting = false;
  }
}

for (const form of document.querySelectorAll("[data-form]")) new PolicyForm(form);
