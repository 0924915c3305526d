"use strict";
// Boundaries of intervals on a histogram: by pointer and by keyboard. The inputs beside hold them; without this script
// they alone do.
(() => {
  const form = document.getElementById("intervals");
  if (!form) return;
  const list = document.getElementById("edges");
  const picture = document.getElementById("histogram");
  const plot = picture && picture.querySelector(".plot");
  const step = Number(form.dataset.step) || 1;
  const digits = Math.max(0, Math.ceil(-Math.log10(step) - 1e-9));
  const handles = new Map();

  const inputs = () => [...list.querySelectorAll("input[name=edge]")];
  const value = (input) => (input.value.trim() === "" ? NaN : Number(input.value));
  const written = (number) => String(Number(number.toFixed(digits)));
  const changed = () => list.dispatchEvent(new Event("change", { bubbles: true }));
  const others = (input) => inputs().filter((each) => each !== input).map(value).filter(Number.isFinite);

  const side = (name) => Number(plot.getAttribute(name));
  const low = () => Number(plot.dataset.low);
  const high = () => Number(plot.dataset.high);
  const across = (number) => {
    const share = Math.min(1, Math.max(0, (number - low()) / (high() - low())));
    return side("x") + share * side("width");
  };
  const pointed = (event) => {
    const place = new DOMPoint(event.clientX, event.clientY).matrixTransform(picture.getScreenCTM().inverse());
    const number = low() + ((place.x - side("x")) / side("width")) * (high() - low());
    return Math.round(number / step) * step;
  };

  function limits(input) {
    const now = value(input);
    const below = others(input).filter((each) => each < now);
    const above = others(input).filter((each) => each > now);
    return [Math.max(...below) + step, Math.min(...above) - step];
  }

  function move(input, number) {
    const [least, most] = limits(input);
    input.value = written(Math.max(least, Math.min(most, number)));
    place(input);
  }

  function place(input) {
    const handle = handles.get(input);
    if (!handle) return;
    const number = value(input), x = across(number), [least, most] = limits(input);
    handle.setAttribute("transform", `translate(${x.toFixed(1)} 0)`);
    handle.classList.toggle("beyond", number < low() || number > high());
    handle.setAttribute("aria-valuenow", written(number));
    handle.setAttribute("aria-valuemin", written(Number.isFinite(least) ? least : Math.min(low(), number)));
    handle.setAttribute("aria-valuemax", written(Number.isFinite(most) ? most : Math.max(high(), number)));
  }

  function drawn(tag, attributes, parent) {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, each] of Object.entries(attributes)) element.setAttribute(name, each);
    parent.append(element);
    return element;
  }

  function handleFor(input) {
    const top = side("y"), bottom = top + side("height");
    const handle = drawn("g", { class: "handle", role: "slider", tabindex: "0", "aria-label": form.dataset.handle }, picture);
    drawn("path", { class: "handle-line", d: `M0 ${top}V${bottom}` }, handle);
    drawn("rect", { class: "handle-hold", x: -10, y: top - 14, width: 20, height: bottom - top + 14 }, handle);
    drawn("rect", { class: "handle-grip", x: -6, y: top - 12, width: 12, height: 20, rx: 4 }, handle);
    handle.addEventListener("pointerdown", (event) => {
      event.preventDefault();
      handle.focus();
      handle.setPointerCapture(event.pointerId);
    });
    handle.addEventListener("pointermove", (event) => {
      if (handle.hasPointerCapture(event.pointerId)) move(input, pointed(event));
    });
    handle.addEventListener("pointerup", changed);
    handle.addEventListener("keydown", (event) => pressed(event, input));
    return handle;
  }

  function pressed(event, input) {
    const far = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -10, PageUp: 10 }[event.key];
    if (far) move(input, value(input) + far * step);
    else if (event.key === "Delete" || event.key === "Backspace") remove(input);
    else return;
    event.preventDefault();
    changed();
  }

  function row() {
    const made = list.lastElementChild.cloneNode(true);
    made.querySelectorAll("button").forEach((each) => each.remove());
    made.querySelector("input").value = "";
    list.append(made);
    return made.querySelector("input");
  }

  function remove(input) {
    const next = inputs()[inputs().indexOf(input) + 1];
    handles.get(input)?.remove();
    handles.delete(input);
    input.closest("li").remove();
    if (!inputs().length) return;
    (handles.get(next) || next || inputs().at(-1)).focus();
  }

  function arrange() {
    if (inputs().every((input) => input.value.trim() !== "")) row();
    for (const input of inputs()) {
      const item = input.closest("li");
      const isNumber = Number.isFinite(value(input));
      if (isNumber && !item.querySelector("button")) {
        const button = document.createElement("button");
        button.type = "button";
        button.className = "plain";
        button.textContent = "×";
        button.addEventListener("click", () => { remove(input); changed(); });
        item.append(button);
      }
      item.querySelector("button")?.setAttribute("aria-label", `${form.dataset.remove} ${input.value}`);
      if (!plot) continue;
      if (isNumber && !handles.has(input)) handles.set(input, handleFor(input));
      if (!isNumber && handles.has(input)) { handles.get(input).remove(); handles.delete(input); }
      place(input);
    }
  }

  if (picture) {
    picture.setAttribute("role", "group");
    picture.addEventListener("click", (event) => {
      const number = pointed(event);
      if (event.target.closest(".handle") || number < low() || number > high()) return;
      if (inputs().some((input) => value(input) === Number(written(number)))) return;
      const input = inputs().find((each) => each.value.trim() === "") || row();
      input.value = written(number);
      changed();
      handles.get(input)?.focus();
    });
  }
  list.addEventListener("change", arrange);
  arrange();
})();
