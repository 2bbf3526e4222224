/** Whether an `If-None-Match` covers the tag; tags are compared weakly (RFC 9110, section 13.1.2). */
export function matches(ifNoneMatch: string | undefined, etag: string): boolean {
  const strong = (tag: string): string => tag.trim().replace(/^W\//, '');
  const tags = ifNoneMatch?.split(',').map(strong) ?? [];
  return tags.includes(strong(etag)) || tags.includes('*');
}
