// The one WebSocket of a page: topics to follow, and commands with their answers. It comes back by itself.

import type { Ack, Command, Problem, Reject, Reply } from "./messages";

export type Answer = Ack | Reject | { type: "lost" };
type Follower = (event: unknown) => void;
export type Link = "connecting" | "open" | "lost";

interface Topic {
  followers: Set<Follower>;
  /** The number of the next event, for topics that keep theirs; null: such that don't. */
  since: number | null;
}

const RETRY_MS = [200, 400, 800, 1500, 3000, 5000];
/** The server pings every 20 s: without a word for longer than this, the connection is dead. */
const SILENCE_MS = 45_000;

class Socket {
  private socket: WebSocket | null = null;
  private readonly topics = new Map<string, Topic>();
  private readonly waiting = new Map<number, (answer: Answer) => void>();
  private readonly watchers = new Set<(link: Link) => void>();
  private readonly refusals = new Map<string, (problem: Problem) => void>();
  private next = 1;
  private tries = 0;
  private silence: ReturnType<typeof setTimeout> | undefined;
  private retry: ReturnType<typeof setTimeout> | undefined;
  link: Link = "connecting";

  /** Connect, and again whenever the connection is lost. */
  start(): void {
    this.connect();
    addEventListener("online", () => this.link === "lost" && this.connect());
  }

  /** Call `watcher` with the connection's state, now and whenever it changes. */
  watch(watcher: (link: Link) => void): () => void {
    this.watchers.add(watcher);
    watcher(this.link);
    return () => this.watchers.delete(watcher);
  }

  /**
   * Call `follower` with each event of a topic until the function that this returns is called.
   * `since`: the number of the first event wanted, for topics that keep theirs; after a lost connection it goes on where it was.
   */
  subscribe(topic: string, follower: Follower, since: number | null = null, refused?: (problem: Problem) => void): () => void {
    const known = this.topics.get(topic);
    const kept = known ?? { followers: new Set<Follower>(), since };
    kept.followers.add(follower);
    this.topics.set(topic, kept);
    if (refused) this.refusals.set(topic, refused);
    // A second follower wants what was said before, too.
    if (this.link === "open") this.follow(topic, known ? since : kept.since);
    return () => {
      kept.followers.delete(follower);
      if (kept.followers.size > 0 || this.topics.get(topic) !== kept) return;
      this.topics.delete(topic);
      this.refusals.delete(topic);
      if (this.link === "open") this.send({ id: this.next++, do: "unsubscribe", topic });
    };
  }

  /** Send a command about a topic. The answer is `lost` if the connection ends before it. */
  command(topic: string, base: number | null, command: Command): Promise<Answer> {
    if (this.link !== "open") return Promise.resolve({ type: "lost" });
    return this.request({ do: "command", topic, base, command });
  }

  private request(body: object): Promise<Answer> {
    const id = this.next++;
    return new Promise((answered) => {
      this.waiting.set(id, answered);
      this.send({ id, ...body });
    });
  }

  private send(message: object): void {
    this.socket?.send(JSON.stringify(message));
  }

  private follow(topic: string, since: number | null): void {
    void this.request({ do: "subscribe", topic, since }).then((answer) => {
      if (answer.type === "reject" && answer.problem) this.refusals.get(topic)?.(answer.problem);
    });
  }

  private connect(): void {
    clearTimeout(this.retry);
    this.socket?.close();
    const socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/api/socket`);
    this.socket = socket;
    socket.onopen = () => {
      this.tries = 0;
      this.become("open");
      for (const [topic, { since }] of this.topics) this.follow(topic, since);
      this.listen();
    };
    socket.onmessage = ({ data }: MessageEvent<string>) => this.hear(JSON.parse(data) as Reply);
    socket.onclose = () => this.socket === socket && this.lose();
  }

  private hear(reply: Reply): void {
    this.listen();
    if (reply.type === "event") {
      const topic = this.topics.get(reply.topic);
      const number = (reply.event as { n?: number } | null)?.n;
      if (topic && typeof number === "number") topic.since = number + 1;
      for (const follower of topic?.followers ?? []) follower(reply.event);
    } else if (reply.type !== "ping" && reply.id !== null) {
      this.waiting.get(reply.id)?.(reply);
      this.waiting.delete(reply.id);
    }
  }

  private listen(): void {
    clearTimeout(this.silence);
    this.silence = setTimeout(() => this.socket?.close(), SILENCE_MS);
  }

  private lose(): void {
    clearTimeout(this.silence);
    this.socket = null;
    this.become("lost");
    for (const answered of this.waiting.values()) answered({ type: "lost" });
    this.waiting.clear();
    this.retry = setTimeout(() => this.connect(), RETRY_MS[Math.min(this.tries++, RETRY_MS.length - 1)]);
  }

  private become(link: Link): void {
    this.link = link;
    for (const watcher of this.watchers) watcher(link);
  }
}

export const socket = new Socket();
