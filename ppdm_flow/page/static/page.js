"use strict";
// Small helps that pages share. Pages work without scripts wherever a form can do it.

for (const button of document.querySelectorAll("button[data-copy]")) {
  const field = document.getElementById(button.dataset.copy);
  button.hidden = false;
  button.addEventListener("click", async () => {
    field.select();
    try {
      await navigator.clipboard.writeText(field.value);
    } catch {
      document.execCommand("copy"); // pages without HTTPS have no clipboard of their own
    }
    button.textContent = button.dataset.copied;
  });
}
