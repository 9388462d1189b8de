// Ids that follow from a name (RFC 9562, version 5), so that page and server give the same thing the same id. No secret hangs on it:
// SHA-1 is what the RFC asks for, and the browser's own is only there asynchronously.

const rotate = (value: number, by: number): number => (value << by) | (value >>> (32 - by));

function sha1(bytes: Uint8Array): Uint8Array {
  const length = ((bytes.length + 8) >> 6) * 64 + 64;
  const block = new DataView(new ArrayBuffer(length));
  bytes.forEach((byte, k) => block.setUint8(k, byte));
  block.setUint8(bytes.length, 0x80);
  block.setUint32(length - 4, bytes.length * 8);
  const state = [0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0];
  const words = new Int32Array(80);
  for (let at = 0; at < length; at += 64) {
    for (let k = 0; k < 16; k++) words[k] = block.getInt32(at + 4 * k);
    for (let k = 16; k < 80; k++) words[k] = rotate((words[k - 3] as number) ^ (words[k - 8] as number) ^ (words[k - 14] as number) ^ (words[k - 16] as number), 1);
    let [a, b, c, d, e] = state as [number, number, number, number, number];
    for (let k = 0; k < 80; k++) {
      const [mix, constant] = k < 20 ? [(b & c) | (~b & d), 0x5a827999] : k < 40 ? [b ^ c ^ d, 0x6ed9eba1] : k < 60 ? [(b & c) | (b & d) | (c & d), 0x8f1bbcdc] : [b ^ c ^ d, 0xca62c1d6];
      const next = (rotate(a, 5) + mix + e + constant + (words[k] as number)) | 0;
      [e, d, c, b, a] = [d, c, rotate(b, 30), a, next];
    }
    for (const [k, value] of [a, b, c, d, e].entries()) state[k] = ((state[k] as number) + value) | 0;
  }
  const out = new DataView(new ArrayBuffer(20));
  state.forEach((value, k) => out.setInt32(4 * k, value));
  return new Uint8Array(out.buffer);
}

export function uuid5(namespace: string, name: string): string {
  const space = Uint8Array.from(namespace.replaceAll("-", "").match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
  const hash = sha1(new Uint8Array([...space, ...new TextEncoder().encode(name)])).slice(0, 16);
  hash[6] = ((hash[6] as number) & 0x0f) | 0x50;
  hash[8] = ((hash[8] as number) & 0x3f) | 0x80;
  const text = [...hash].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return [text.slice(0, 8), text.slice(8, 12), text.slice(12, 16), text.slice(16, 20), text.slice(20)].join("-");
}
