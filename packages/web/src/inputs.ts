import { utf8 } from '@tallystick/core';
import { byId, on, setContents } from './dom.ts';
import { judgeTogether, later } from './later/run.ts';
import { formatText, prose } from './words.ts';

/** A text box that can stand for a file: until the box is edited, the file's own bytes are judged. */
export interface Input {
  /** The bytes to judge; null if it is empty. */
  bytes(): Uint8Array | null;
  set(bytes: Uint8Array, source: string): void;
  clear(): void;
}

/** Largest file in bytes that is shown in the box: larger ones would only make the page slow. */
const SHOWN_BYTES = 200_000;

/**
 * Wires a text box. @param id of the text area; its note is `<id>-source`, its file input `<id>-file`
 * @param edited called when its contents were changed by hand, with whether something was pasted
 */
export function createInput(id: string, edited: (pasted: boolean) => unknown): Input {
  const box = byId(id, HTMLTextAreaElement);
  const note = byId(`${id}-source`);
  let file: Uint8Array | null = null;
  box.addEventListener('input', ({ inputType }) => {
    file = null;
    setContents(note);
    edited(inputType === 'insertFromPaste');
  });
  return {
    bytes: () => file ?? (box.value === '' ? null : utf8(box.value)),
    set(bytes, source) {
      file = bytes;
      box.value = bytes.length > SHOWN_BYTES ? '' : new TextDecoder().decode(bytes);
      setContents(note, formatText(prose.text.source, source, bytes.length));
    },
    clear() {
      file = null;
      box.value = '';
      setContents(note);
    },
  };
}

type Take = (bytes: Uint8Array, name: string) => Promise<void>;

/** Calls `take` with the bytes and the name of each file that is chosen. */
export function onFile(id: string, take: Take): void {
  const chooser = byId(`${id}-file`, HTMLInputElement);
  on(chooser, 'change', async () => {
    await takeAll(chooser.files, take, id);
    // Without this, the same file could not be chosen again.
    chooser.value = '';
  });
}

/** Calls `take` with each file that is dropped anywhere on the page; a folder, which can't be read, counts as an empty file. */
export function onDrop(take: Take): void {
  const veil = byId('dropping');
  addEventListener('dragover', (event) => {
    if (!event.dataTransfer?.types.includes('Files')) return;
    event.preventDefault();
    veil.hidden = false;
  });
  addEventListener('dragleave', ({ relatedTarget }) => {
    if (relatedTarget === null) veil.hidden = true;
  });
  addEventListener('drop', (event) => {
    veil.hidden = true;
    const files = event.dataTransfer?.files;
    if (!files?.length) return;
    event.preventDefault();
    void takeAll(files, take);
  });
}

/** Largest file in bytes that is read as one text. Of one with 2^29 bytes, browsers read nothing, and don't say so. */
export const TEXT_BYTES = 5e8;

async function takeAll(list: FileList | null, take: Take, id?: string): Promise<void> {
  // The list of a chooser is emptied with it.
  const files = [...(list ?? [])];
  for (const file of files) {
    if (file.size > TEXT_BYTES && later().refusesLarge(file, id)) return;
    await take(new Uint8Array(await file.arrayBuffer().catch(() => [])), file.name);
  }
  if (files.length > 1) judgeTogether(files);
}
