"use strict";
// Values dragged into groups. What is dragged is selected, and the form that moves the selection is sent: without this
// script, and by keyboard, people do the same by themselves.
(() => {
  let dragging = false;
  let focused = "";
  const target = (event) => (dragging ? event.target.closest("[data-group], [data-free]") : null);
  const unmark = () => document.querySelectorAll(".over").forEach((each) => each.classList.remove("over"));

  document.addEventListener("dragstart", (event) => {
    const item = event.target.closest("[data-member]");
    if (!item) return;
    const box = item.querySelector("input");
    if (!box.checked) {
      document.querySelectorAll("#board input[name=member]").forEach((each) => { each.checked = false; });
      box.checked = true;
    }
    event.dataTransfer.effectAllowed = "move";
    event.dataTransfer.setData("text/plain", "");
    dragging = true;
  });
  document.addEventListener("dragend", () => { dragging = false; unmark(); });
  document.addEventListener("dragover", (event) => {
    unmark();
    const place = target(event);
    if (!place) return;
    event.preventDefault();
    place.classList.add("over");
  });
  document.addEventListener("drop", (event) => {
    const place = target(event);
    const form = document.getElementById("move");
    if (!place || !form) return;
    event.preventDefault();
    unmark();
    dragging = false;
    if ("free" in place.dataset) {
      form.requestSubmit(form.querySelector("button[value=free]"));
      return;
    }
    document.getElementById("move-group").value = place.dataset.group;
    if (place.dataset.group === "") document.getElementById("move-name").focus();
    else form.requestSubmit(form.querySelector("button[value=move]"));
  });

  document.addEventListener("submit", () => { focused = document.activeElement?.id || ""; }, true);
  document.addEventListener("htmx:after:swap", () => {
    if (!document.getElementById("board") || document.activeElement !== document.body) return;
    (document.getElementById(focused) || document.getElementById("move-group"))?.focus();
  });
})();
