/* Pages from the file system may start no workers: one runs in a hidden frame instead, so that search works there. */
(() => {
  if (location.protocol !== "file:") return;
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.onmessage = null;
      const base = new URL(url, document.baseURI);
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.appendChild(frame);
      const inner = frame.contentWindow;
      inner.postMessage = (data) => {
        const event = new MessageEvent("message", { data });
        this.dispatchEvent(event);
        if (this.onmessage) this.onmessage(event);
      };
      inner.importScripts = (...urls) => urls.reduce((before, one) => before.then(() => load(one)), Promise.resolve());
      const load = (one) => new Promise((done, failed) => {
        const script = inner.document.createElement("script");
        script.src = new URL(one, base).href;
        script.onload = done;
        script.onerror = failed;
        inner.document.body.appendChild(script);
      });
      this.inner = inner;
      this.ready = load(base.href);
    }
    postMessage(data) {
      this.ready.then(() => this.inner.dispatchEvent(new MessageEvent("message", { data })));
    }
    terminate() {
      this.inner.frameElement.remove();
    }
  };
})();
