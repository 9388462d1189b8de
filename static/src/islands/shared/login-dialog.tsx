// Logging in again in place: what waits is kept, and the page stays as it is.
import { useState } from "preact/hooks";
import { errorText } from "../../lib/api";
import { logInAgain } from "../../lib/relogin";
import { plural } from "../../lib/words";
import { Dialog } from "./dialog";
import { Icon } from "./parts";

interface LoginProps {
  url: string;
  username: string;
  /** Changes that wait; null where the page does not count what is written. */
  pending: number | null;
  done: () => void;
  close: () => void;
}

const keptWords = (pending: number | null): string =>
  pending === null ? "What you wrote is kept here and saved once you are logged in; you" : pending ? `${plural(pending, "change is", "changes are")} kept here and sent once you are logged in; you` : "You";

export function LoginDialog({ url, username, pending, done, close }: LoginProps) {
  const [problem, setProblem] = useState("");
  const [needsCode, setNeedsCode] = useState(false);
  const [waiting, setWaiting] = useState(false);
  const send = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const data = new FormData(event.currentTarget as HTMLFormElement);
    setWaiting(true);
    setProblem("");
    try {
      const answer = await logInAgain(url, username, String(data.get("password") ?? ""), String(data.get("code") ?? ""));
      if (answer.kind === "done") return done();
      if (answer.kind === "code") setNeedsCode(true);
      setProblem(answer.message);
    } catch (error) {
      setProblem(errorText(error));
    } finally {
      setWaiting(false);
    }
  };
  return (
    <Dialog title="Log in again" close={close}>
      <p>The login has run out. {keptWords(pending)} stay on this page.</p>
      <form onSubmit={(event) => void send(event as unknown as SubmitEvent)}>
        <div class="form-row">
          <label class="form-label" for="relogin-name">
            Name
          </label>
          <input class="form-control" id="relogin-name" name="username" value={username} readOnly autocomplete="username" />
        </div>
        <div class="form-row">
          <label class="form-label" for="relogin-password">
            Password
          </label>
          <input class="form-control" id="relogin-password" name="password" type="password" autocomplete="current-password" required autofocus />
        </div>
        {needsCode && (
          <div class="form-row">
            <label class="form-label" for="relogin-code">
              Code of your second factor
            </label>
            <input class="form-control" id="relogin-code" name="code" autocomplete="one-time-code" inputMode="numeric" />
          </div>
        )}
        {problem && (
          <p class="card-blocked" role="alert">
            <Icon name="exclamation-circle" />
            {problem}
          </p>
        )}
        <div class="form-actions">
          <button class="btn btn-primary" disabled={waiting}>
            Log in
          </button>
          <button type="button" class="btn btn-quiet" onClick={close}>
            Later: keep working
          </button>
        </div>
      </form>
    </Dialog>
  );
}
