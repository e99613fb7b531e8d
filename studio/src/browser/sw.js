// Keeps what the page loaded, so that it works offline. A new export has a new version and replaces the old files.
const OURS = `regard ${self.registration.scope} `; // other pages of this host have their own
const CACHE = `${OURS}__VERSION__`;
const PAGE = ["./", "app.js", "app.css", "runtime.js"];

self.addEventListener("install", (event) => {
  const fresh = PAGE.map((path) => new Request(path, { cache: "no-cache" }));
  event.waitUntil(caches.open(CACHE).then((cache) => cache.addAll(fresh)).then(() => self.skipWaiting()));
});

self.addEventListener("activate", (event) => {
  const old = (names) => names.filter((name) => name.startsWith(OURS) && name !== CACHE);
  event.waitUntil(
    caches.keys().then((names) => Promise.all(old(names).map((name) => caches.delete(name)))).then(() => self.clients.claim()),
  );
});

/** The page itself from the network where there is one, so that a new export is seen; everything else from the cache. */
async function answer(request) {
  const cache = await caches.open(CACHE);
  const key = request.mode === "navigate" ? "./" : request;
  const kept = await cache.match(key);
  if (kept && request.mode !== "navigate") return kept;
  try {
    const found = await fetch(request.mode === "navigate" ? new Request(request.url, { cache: "no-cache" }) : request);
    if (found.ok && found.status === 200) await cache.put(key, found.clone());
    return found;
  } catch (error) {
    if (kept) return kept;
    throw error;
  }
}

self.addEventListener("fetch", (event) => {
  const { method, url } = event.request;
  if (method === "GET" && url.startsWith(self.registration.scope)) event.respondWith(answer(event.request));
});

/** What the page loaded before this worker saw its requests. */
async function keep(paths) {
  const cache = await caches.open(CACHE);
  const inside = paths.filter((path) => path.startsWith(self.registration.scope));
  await Promise.all(inside.map(async (path) => (await cache.match(path)) || cache.add(path)));
}

self.addEventListener("message", (event) => event.waitUntil(keep(event.data.keep).catch(() => undefined)));
