interface NavigationEntry {
  readonly title: string;
  readonly path: string;
}

export interface NavigationGroup {
  readonly title: string;
  readonly entries: readonly NavigationEntry[];
}

/** The navigation of all pages: the console's sidebar and the header of the other pages. */
export const navigation: readonly NavigationGroup[] = [
  {
    title: 'Verify',
    entries: [
      { title: 'Verify a receipt', path: '/verify' },
      { title: 'Receipts', path: '/receipts' },
      { title: 'Evidence', path: '/evidence' },
      { title: 'Build evidence', path: '/evidence/build' },
    ],
  },
  {
    title: 'Activity',
    entries: [
      { title: 'Calls', path: '/activity' },
      { title: 'Sessions', path: '/sessions' },
    ],
  },
  {
    title: 'Transparency',
    entries: [
      { title: 'Log', path: '/log' },
      { title: 'Status', path: '/status' },
      { title: 'Benchmark', path: '/benchmark' },
      { title: 'Members', path: '/members' },
    ],
  },
  {
    title: 'Account',
    entries: [
      { title: 'Keys', path: '/keys' },
      { title: 'Balance', path: '/balance' },
      { title: 'Webhooks', path: '/webhooks' },
      { title: 'Reference', path: '/docs' },
    ],
  },
];
