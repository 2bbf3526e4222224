/** Saves a file. @param contents text, or bytes */
export function saveFile(contents: BlobPart, name: string, type: string): void {
  saveBlob(new Blob([contents], { type }), name);
}

/** As `saveFile`, for what is a blob already. */
export function saveBlob(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob);
  Object.assign(document.createElement('a'), { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
