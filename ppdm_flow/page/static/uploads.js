"use strict";
// Uploads show how much was sent. Without this script the form is sent as any other is.

for (const form of document.querySelectorAll("form[data-upload]")) {
  const part = (name) => form.querySelector(`[data-${name}]`);
  const words = form.dataset;
  const bar = part("progress");
  const stop = part("stop");
  const send = form.querySelector("button[type=submit]");
  let request = null;

  const say = (text) => { part("status").textContent = text; };

  const busy = (is) => {
    bar.hidden = !is;
    stop.hidden = !is;
    send.disabled = is;
  };

  const over = (text) => {
    busy(false);
    request = null;
    say(text);
  };

  const answer = (page) => {
    // A page of the server without scripts being run: what it says is shown here, and the form stays.
    const main = new DOMParser().parseFromString(page, "text/html").querySelector("main");
    part("answer").replaceChildren(...(main ? main.querySelectorAll(":scope > :not(h1)") : []));
    part("layout").open = true;
  };

  form.addEventListener("submit", (event) => {
    const file = form.elements.namedItem("file").files[0];
    if (!file) return;
    event.preventDefault();
    part("answer").replaceChildren();
    if (file.size > Number(words.most)) {
      say(words.tooLarge);
      return;
    }
    request = new XMLHttpRequest();
    request.open("POST", form.action);
    request.setRequestHeader("x-form-token", form.elements.namedItem("form_token").value);
    request.upload.addEventListener("progress", (sent) => {
      if (!sent.lengthComputable) return;
      bar.firstElementChild.value = sent.loaded / sent.total;
      say(words.sending.replace("{percent}", String(Math.floor((100 * sent.loaded) / sent.total))));
    });
    request.upload.addEventListener("load", () => say(words.looking));
    request.addEventListener("load", () => {
      if (request.status < 400) {
        location.assign(request.responseURL);
        return;
      }
      const page = request.responseText;
      over("");
      answer(page);
    });
    request.addEventListener("error", () => over(words.broken));
    request.addEventListener("abort", () => over(words.stopped));
    busy(true);
    stop.focus();
    request.send(new FormData(form));
  });

  stop.addEventListener("click", () => {
    if (request) request.abort();
    send.focus();
  });
}
