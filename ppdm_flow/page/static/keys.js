"use strict";
// A key's file is put into the field of its text, so that it is sent with the form.
for (const part of document.querySelectorAll("[data-file-for]")) {
  const text = document.getElementById(part.dataset.fileFor);
  part.hidden = false;
  part.querySelector("input").addEventListener("change", async (event) => {
    const [file] = event.target.files;
    if (file && file.size <= 65536) text.value = await file.text();
    event.target.value = "";
  });
}
