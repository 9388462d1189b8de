// @vitest-environment jsdom
import { expect, it } from "vitest";
import { Refused } from "../lib/piece-upload";
import { sendAll } from "./video-upload";

const form = (): HTMLFormElement => {
  document.body.innerHTML = '<form data-upload data-largest="20"><div data-upload-list></div></form>';
  return document.querySelector("form") as HTMLFormElement;
};
const words = (): (string | null)[] => [...document.querySelectorAll(".form-text")].map((each) => each.textContent);
const file = (name: string, length = 10): File => new File(["x".repeat(length)], name);

it("shows each file with what became of it, and goes on after one that was refused", async () => {
  const sent: string[] = [];
  const refused = await sendAll(form(), [file("a.mp4"), file("b.mp4"), file("large.mp4", 21), file("known.mp4")], {
    upload: async (given, onProgress) => {
      sent.push(given.name);
      onProgress({ received: 5, bytes: 10, waiting: "" });
      if (given.name === "b.mp4") throw new Refused("It is no video. Choose another file.");
      return { isNew: given.name !== "known.mp4" };
    },
  });
  expect(refused).toBe(2);
  expect(sent).toEqual(["a.mp4", "b.mp4", "known.mp4"]);
  expect(words()).toEqual(["Received; it is prepared now.", "It is no video. Choose another file.", "0.0 MB; the limit is 0.0 MB. Cut it into parts or encode it smaller.", "The set has this video already."]);
  const bars = [...document.querySelectorAll("progress")];
  expect(bars.map((bar) => bar.value)).toEqual([100, 50, 0, 100]);
  expect(bars[0]?.getAttribute("aria-label")).toBe("Upload of a.mp4");
  expect(document.querySelectorAll('[role="alert"]')).toHaveLength(2);
});

it("writes a file's name as text", async () => {
  await sendAll(form(), [file("<img src=x onerror=alert(1)>.mp4")], { upload: async () => ({ isNew: true }) });
  expect(document.querySelector("img")).toBeNull();
});
