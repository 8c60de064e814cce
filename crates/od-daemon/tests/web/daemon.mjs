// The daemon's side of a session: it proves its key, registers a browser by a code, and gives bearers to
// whoever signs for the key that it registered.

const KEY = { name: "ECDSA", namedCurve: "P-256" };
const SIGNING = { name: "ECDSA", hash: "SHA-256" };
const ADDRESS = "127.0.0.1:7456";

const text = (parts) => new TextEncoder().encode(["od console v1", parts[0], ADDRESS, ...parts.slice(1)].join("\n"));
const encode = (bytes) => Buffer.from(bytes).toString("base64url");
const decode = (string) => Buffer.from(string, "base64url");

export class FakeDaemon {
  browser = null;
  bearers = 0;

  static async start() {
    const daemon = new FakeDaemon();
    daemon.keys = await crypto.subtle.generateKey(KEY, false, ["sign", "verify"]);
    const raw = await crypto.subtle.exportKey("raw", daemon.keys.publicKey);
    daemon.key = encode(raw);
    const digest = await crypto.subtle.digest("SHA-256", raw);
    daemon.name = Buffer.from(digest).subarray(0, 16).toString("hex");
    return daemon;
  }

  /** Answers what belongs to sessions, else nothing. @param {string} path @param {{body?: string}} options */
  async answer(path, options) {
    if (!path.startsWith("/api/session")) return null;
    const body = JSON.parse(options.body);
    if (path === "/api/session/challenge") {
      const signature = await crypto.subtle.sign(SIGNING, this.keys.privateKey, text(["daemon", this.key, body.nonce, "c0ffee"]));
      return Response.json({ challenge: "c0ffee", daemonKey: this.key, signature: encode(signature) });
    }
    if (path === "/api/session") {
      const browser = await crypto.subtle.importKey("raw", decode(body.publicKey), KEY, false, ["verify"]);
      if (!(await this.signed(browser, body.signature, ["register", this.key, body.nonce, body.challenge, body.code, body.publicKey]))) return this.refused();
      this.browser = browser;
      return this.bearer();
    }
    const signed = this.browser && (await this.signed(this.browser, body.signature, ["bearer", this.key, body.nonce, body.challenge, body.sessionId]));
    return signed ? this.bearer() : this.refused();
  }

  signed(key, signature, parts) {
    return crypto.subtle.verify(SIGNING, key, decode(signature), text(parts));
  }

  bearer() {
    this.bearers += 1;
    const expiresAt = new Date(Date.now() + 15 * 60_000).toISOString();
    return Response.json({ sessionId: "cs-1", token: `bearer ${this.bearers}`, expiresAt });
  }

  refused() {
    return Response.json({ error: { code: "UNAUTHORIZED", message: "no" } }, { status: 401 });
  }
}
