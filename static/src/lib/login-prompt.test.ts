// @vitest-environment jsdom
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { HANDS_OFF_MS, LoginPrompt } from "./login-prompt";

let idle: number;
const open = vi.fn();
const prompt = (): LoginPrompt => new LoginPrompt(open, () => idle);

beforeEach(() => {
  vi.useFakeTimers();
  open.mockReset();
  idle = 10_000;
  document.body.innerHTML = "<textarea></textarea>";
});
afterEach(() => void vi.useRealTimers());

describe("the login dialogue", () => {
  it("opens once each time that a login is needed", () => {
    const one = prompt();
    one.tell(false);
    one.tell(true);
    one.tell(true);
    expect(open).toHaveBeenCalledTimes(1);
    one.tell(false);
    one.tell(true);
    expect(open).toHaveBeenCalledTimes(2);
  });

  it("waits for a pause in the keys, and does not open when it is needed no more", () => {
    const one = prompt();
    idle = 5;
    one.tell(true);
    vi.advanceTimersByTime(HANDS_OFF_MS);
    expect(open).not.toHaveBeenCalled();
    idle = HANDS_OFF_MS;
    vi.advanceTimersByTime(HANDS_OFF_MS);
    expect(open).toHaveBeenCalledTimes(1);
    idle = 5;
    one.tell(false);
    one.tell(true);
    one.tell(false);
    vi.advanceTimersByTime(3 * HANDS_OFF_MS);
    expect(open).toHaveBeenCalledTimes(1);
  });

  it("does not open over a text until its field is left", () => {
    const one = prompt();
    const field = document.querySelector("textarea") as HTMLTextAreaElement;
    field.focus();
    one.tell(true);
    expect(open).not.toHaveBeenCalled();
    field.blur();
    one.look();
    expect(open).toHaveBeenCalledTimes(1);
  });
});
