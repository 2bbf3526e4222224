import { type ApiRequest, apiStream } from './api.ts';
import { bytesText } from './format/bytes.ts';
import { saveBlob } from './save.ts';

/** How far a file has come. */
export interface Streamed {
  readonly bytes: number;
  /** Since the service answered; null until then. */
  readonly milliseconds: number | null;
  /** The file, once it is whole and saved. */
  readonly file: File | null;
}

/** Where a file is saved: a file that the reader chose, or, where browsers let pages choose none, the downloads. */
type Target = FileSystemFileHandle | { readonly download: string };

type FilePicker = (options: { readonly suggestedName: string }) => Promise<FileSystemFileHandle>;

/** Asks where to save a file. It must be called on a click. */
export async function chooseTarget(name: string): Promise<Target | 'cancelled'> {
  const { showSaveFilePicker } = globalThis as { showSaveFilePicker?: FilePicker };
  if (showSaveFilePicker === undefined) return { download: name };
  try {
    return await showSaveFilePicker({ suggestedName: name });
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') return 'cancelled';
    throw error;
  }
}

/** How fast a file comes, as the end of a sentence; empty until that is known. */
export function rateText(bytes: number, milliseconds: number | null): string {
  if (milliseconds === null || milliseconds < 500) return '';
  return `, ${bytesText((bytes * 1_000) / milliseconds)} a second`;
}

/** Milliseconds between two reports. */
const EVERY = 100;

/**
 * Saves an answer as it arrives. A file that was chosen never is in memory as a whole.
 * @throws ApiProblem; TypeError if the answer breaks off, AbortError if it is stopped. The chosen file is left as it was then.
 */
export async function stream(
  path: `/${string}`,
  request: ApiRequest,
  target: Target,
  report: (state: Streamed) => void,
): Promise<void> {
  const started = Date.now();
  let state: Streamed = { bytes: 0, milliseconds: null, file: null };
  report(state);
  const response = await apiStream(path, request);
  const { headers } = response;
  const answered = Date.now();
  state = { ...state, milliseconds: 0 };
  report(state);
  let reported = started;
  const counted = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      controller.enqueue(chunk);
      const now = Date.now();
      state = { ...state, bytes: state.bytes + chunk.length, milliseconds: now - answered };
      if (now - reported < EVERY) return;
      reported = now;
      report(state);
    },
  });
  const body = response.body?.pipeThrough(counted) ?? new ReadableStream<Uint8Array>();
  const type = headers.get('content-type') ?? '';
  const file = await saved(body, target, { type, signal: request.signal });
  report({ ...state, file });
}

async function saved(
  body: ReadableStream<Uint8Array>,
  target: Target,
  { type, signal }: { readonly type: string; readonly signal: AbortSignal | undefined },
): Promise<File> {
  if ('download' in target) {
    const blob = await new Response(body as BodyInit).blob();
    saveBlob(blob, target.download);
    return new File([blob], target.download, { type });
  }
  await body.pipeTo(await target.createWritable(), signal ? { signal } : {});
  return target.getFile();
}
