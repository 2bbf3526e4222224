/** The media type and the base64 text of a `data:` URL (RFC 2397); null if it is none in base64. */
export function dataOf(url: string): { readonly mediaType: string; readonly data: string } | null {
  const [, mediaType, data] =
    /^data:([a-z]{1,32}\/[\w.+-]{1,100})(?:;[^,;]{0,100})?;base64,(.*)$/s.exec(url) ?? [];
  return mediaType === undefined || data === undefined ? null : { mediaType, data };
}
