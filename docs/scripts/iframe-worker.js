"use strict";
// Browsers start no worker for pages opened from disk: there the search of the theme runs in a hidden frame instead.
// The theme looks for the name IFrameWorker, and for this file's name, before it fetches such a script from elsewhere.
if (location.protocol === "file:") {
  window.IFrameWorker = window.Worker = class extends EventTarget {
    constructor(address) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      this.inner = new Promise((resolve) => {
        frame.addEventListener("load", () => {
          const inner = frame.contentWindow;
          const load = (url) =>
            new Promise((loaded) => {
              const script = frame.contentDocument.createElement("script");
              script.src = url;
              script.addEventListener("load", loaded);
              frame.contentDocument.head.append(script);
            });
          inner.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
          inner.importScripts = (...urls) => urls.reduce((before, url) => before.then(() => load(url)), Promise.resolve());
          load(address).then(() => resolve(inner));
        }, { once: true });
      });
      document.body.append(frame);
    }
    postMessage(data) {
      this.inner.then((inner) => inner.dispatchEvent(new inner.MessageEvent("message", { data })));
    }
  };
}
