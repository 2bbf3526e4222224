/** Formats a count with its digits in groups of three. */
export function counted(count: number): string {
  return count.toLocaleString('en');
}
