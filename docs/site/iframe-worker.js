// Search from pages opened as files: browsers refuse workers there, so the search script runs in a hidden frame.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super()
      this.waiting = []
      const frame = document.createElement("iframe")
      frame.hidden = true
      document.body.appendChild(frame)
      this.inside = frame.contentWindow
      this.inside.postToPage = data => this.dispatchEvent(new MessageEvent("message", { data }))
      const written = this.inside.document
      written.open()
      written.write(
        "<script>window.postMessage = data => window.postToPage(data);" +
        "window.importScripts = (...urls) => Promise.all(urls.map(url => new Promise(done => {" +
        "const script = document.createElement('script'); script.src = url; script.onload = done;" +
        "document.head.appendChild(script) })))<\/script>"
      )
      written.close()
      const script = written.createElement("script")
      script.src = url
      script.onload = () => {
        const held = this.waiting
        this.waiting = null
        held.forEach(data => this.deliver(data))
      }
      written.head.appendChild(script)
    }
    deliver(data) {
      this.inside.dispatchEvent(new MessageEvent("message", { data }))
    }
    postMessage(data) {
      if (this.waiting) this.waiting.push(data)
      else this.deliver(data)
    }
    terminate() {}
  }
}
