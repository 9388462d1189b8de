import { describe, expect, it } from "vitest";
import { PieceUpload, Refused, pause } from "./piece-upload";
import type { Progress, Send } from "./piece-upload";

const WHERE = { begin: "/begin/", uploads: "/uploads/", pieceBytes: 4 };
const file = (text = "0123456789"): File => new File([text], "walk.mp4");

/** A server that keeps what it is sent; `odd` answers some requests instead, once each. */
function server(odd: ((url: string, init: RequestInit) => Response | "lost" | null)[] = [], start = "") {
  let kept = start;
  const asked: string[] = [];
  const json = (body: unknown, status = 200, headers = {}): Response => new Response(JSON.stringify(body), { status, headers });
  const send: Send = async (url, init) => {
    asked.push(`${init.method} ${url}`);
    const instead = odd[0]?.(url, init);
    if (instead) {
      odd.shift();
      if (instead === "lost") throw new TypeError("Failed to fetch");
      return instead;
    }
    if (url === "/begin/") return json({ id: "u", received: kept.length, bytes: 10 }, 201);
    if (url.endsWith("finish/")) return json({ id: "v" }, 201);
    const offset = Number(new URL(url, "http://x").searchParams.get("offset"));
    if (offset !== kept.length) return json({ error: { message: "Wrong place.", fields: { received: kept.length } } }, 409);
    kept += await (init.body as Blob).text();
    return json({ id: "u", received: kept.length, bytes: 10 });
  };
  return { send, asked, kept: () => kept, json };
}

async function upload(made: ReturnType<typeof server>, given = file()) {
  const seen: Progress[] = [];
  const waits: number[] = [];
  const wait = async (milliseconds: number): Promise<void> => void waits.push(milliseconds);
  const outcome = await new PieceUpload(WHERE, () => "token", made.send, wait).upload(given, (now) => seen.push({ ...now }));
  return { outcome, seen, waits };
}

describe("sending a file in pieces", () => {
  it("sends every byte once, in order", async () => {
    const made = server();
    const { outcome, seen } = await upload(made);
    expect(made.kept()).toBe("0123456789");
    expect(outcome.isNew).toBe(true);
    expect(seen.map((now) => now.received)).toEqual([0, 4, 8, 10]);
    expect(made.asked).toEqual(["POST /begin/", "PUT /uploads/u/piece/?offset=0", "PUT /uploads/u/piece/?offset=4", "PUT /uploads/u/piece/?offset=8", "POST /uploads/u/finish/"]);
  });

  it("goes on where an earlier upload stopped", async () => {
    const made = server([], "01234");
    await upload(made);
    expect(made.kept()).toBe("0123456789");
    expect(made.asked[1]).toBe("PUT /uploads/u/piece/?offset=5");
  });

  it("sends the protection token with each request", async () => {
    const made = server();
    const seen: unknown[] = [];
    await new PieceUpload(WHERE, () => "token", (url, init) => { seen.push((init.headers as Record<string, string>)["X-CSRFToken"]); return made.send(url, init); }).upload(file(), () => {});
    expect(new Set(seen)).toEqual(new Set(["token"]));
  });

  it("goes to the byte that the server names when a piece arrived and its answer was lost", async () => {
    const made = server();
    let lost = false;
    const send: Send = async (url, init) => {
      const answer = await made.send(url, init);
      if (!lost && url.includes("offset=4")) {
        lost = true;
        throw new TypeError("Failed to fetch");
      }
      return answer;
    };
    await new PieceUpload(WHERE, () => "", send, async () => {}).upload(file(), () => {});
    expect(made.kept()).toBe("0123456789");
  });

  it("waits and tries again without a connection, and says so", async () => {
    const made = server([(url) => (url.includes("piece") ? "lost" : null), (url) => (url.includes("piece") ? new Response("", { status: 503 }) : null)]);
    const { seen, waits } = await upload(made);
    expect(made.kept()).toBe("0123456789");
    expect(waits).toEqual([1000, 2000]);
    expect(seen.some((now) => now.waiting === "No answer; trying again in 2 s")).toBe(true);
  });

  it("waits as long as a busy server asks", () => {
    expect(pause(0, "7")).toBe(7000);
    expect(pause(3, null)).toBe(8000);
    expect(pause(9, null)).toBe(30_000);
    expect(pause(1, "soon")).toBe(2000);
  });

  it("gives up after six tries", async () => {
    const made = server(Array.from({ length: 6 }, () => (): "lost" => "lost"));
    await expect(upload(made)).rejects.toThrow("The server does not answer.");
    expect(made.asked).toHaveLength(6);
  });

  it.each([400, 403, 413, 422, 507])("does not repeat what was refused (%i)", async (status) => {
    const made = server();
    const refused = server([() => made.json({ error: { message: "Too large.", remedy: "Cut it." } }, status)]);
    await expect(upload(refused)).rejects.toThrow(new Refused("Too large. Cut it."));
    expect(refused.asked).toHaveLength(1);
  });

  it("stops when the server does not go on", async () => {
    const made = server();
    const stuck = server([(url) => (url.includes("piece") ? made.json({ id: "u", received: 0, bytes: 10 }) : null)]);
    await expect(upload(stuck)).rejects.toThrow(Refused);
  });

  it("tells a video that the set has already from a new one", async () => {
    const made = server();
    const known = server([(url) => (url.endsWith("finish/") ? made.json({ id: "v" }, 200) : null)]);
    expect((await upload(known)).outcome.isNew).toBe(false);
  });
});
