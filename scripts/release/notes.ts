/**
 * The part of a changelog that tells of a version, without its heading; what is unreleased where it has no such part.
 * @param changelog in the form of Keep a Changelog
 * @throws Error where there is nothing to tell
 */
export function notesOf(
  changelog: string,
  version: string,
): { readonly released: boolean; readonly text: string } {
  const part = (name: string): string | undefined =>
    changelog
      .split(/^## /m)
      .find((section) => section.startsWith(`[${name}]`))
      ?.replace(/^.*\n/, '')
      .trim();
  const notes = part(version);
  const text = notes ?? part('Unreleased') ?? '';
  if (text === '') throw new Error(`CHANGELOG.md says nothing of version ${version}.`);
  return { released: notes !== undefined, text: `${text}\n` };
}
