// The application. The URL that `dumbbell ui` prints carries a token behind `#`: the page exchanges it for a cookie.

import { createRoot } from "react-dom/client";
import { post, problemOf, get } from "./kit/api";
import { App } from "./app/app";
import { LoggedOut } from "./app/logged-out";
import type { About } from "./kit/messages";
import { socket } from "./kit/socket";
import "./styles.css";

const tokenOf = (hash: string): string | undefined => /^#(?:\/?\??)token=([^&]+)/.exec(hash)?.[1];

async function login(): Promise<void> {
  const token = tokenOf(location.hash);
  if (!token) return;
  // The token must not stay in the history.
  history.replaceState(null, "", "#/");
  await post("/api/login", { token: decodeURIComponent(token) });
}

async function main(): Promise<void> {
  const place = document.getElementById("app");
  if (!place) return;
  const root = createRoot(place);
  try {
    await login();
    const about = await get<About>("/api/about");
    socket.start();
    root.render(<App about={about} />);
  } catch (thrown) {
    root.render(<LoggedOut problem={problemOf(thrown)} />);
  }
}

// An address that is typed into a tab in which the page is open changes the part behind `#` alone.
addEventListener("hashchange", () => tokenOf(location.hash) && location.reload());
void main();
