import { type NavigationGroup, navigation } from '../navigation.ts';
import { isOperator } from './identity/identity.ts';
import type { ConsolePage } from './page.ts';

/** The pages of this app, each of which is loaded when it is opened. To add one, export `Page` from `pages/NAME/page.tsx` and list it here. */
export const pages: readonly ConsolePage[] = [
  { title: 'Calls', path: '/activity', load: () => import('./pages/activity/page.tsx') },
  { title: 'Call', path: '/activity/:id', load: () => import('./pages/call/page.tsx') },
  { title: 'Sessions', path: '/sessions', load: () => import('./pages/sessions/page.tsx') },
  { title: 'Session', path: '/sessions/:id', load: () => import('./pages/session/page.tsx') },
  { title: 'Receipts', path: '/receipts', load: () => import('./pages/receipts/page.tsx') },
  { title: 'Build evidence', path: '/evidence/build', load: () => import('./pages/evidence-build/page.tsx') },
  { title: 'Log', path: '/log', load: () => import('./pages/log/page.tsx') },
  { title: 'Keys', path: '/keys', load: () => import('./pages/keys/page.tsx') },
  { title: 'Balance', path: '/balance', load: () => import('./pages/balance/page.tsx') },
  { title: 'Webhooks', path: '/webhooks', load: () => import('./pages/webhooks/page.tsx') },
  { title: 'Members', path: '/members', load: () => import('./pages/members/page.tsx') },
  { title: 'Operator', path: '/operator', load: () => import('./pages/operator/page.tsx') },
  { title: 'Status', path: '/status', load: () => import('./pages/status/page.tsx') },
];

/** The pages of whoever has an operator's key. */
const OPERATOR: NavigationGroup = {
  title: 'Operator',
  entries: [{ title: 'Operator', path: '/operator' }],
};

/** The navigation of whoever is signed in. */
export const shownNavigation = (): readonly NavigationGroup[] =>
  isOperator.value ? [...navigation, OPERATOR] : navigation;
