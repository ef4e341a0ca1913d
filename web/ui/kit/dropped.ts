// A capture that was dropped into another view, until "Captures" takes it.

let waiting: File | null = null;

const CAPTURE = /\.(pcap|pcapng|cap|s?qlog|log)(\.(gz|zst|lz4))?$/i;

/** True if a file's name is that of a capture, or of a log of a transfer. */
export const isCapture = (name: string): boolean => CAPTURE.test(name);

export function hand(file: File): void {
  waiting = file;
}

/** The file, once. */
export function take(): File | null {
  const file = waiting;
  waiting = null;
  return file;
}
