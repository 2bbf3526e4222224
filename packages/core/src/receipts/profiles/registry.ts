import { nano, nanoForm } from './nano.ts';
import { pq, pqForm } from './pq.ts';
import type { ProfileForm, ReceiptOf } from './profile.ts';
import { standard, standardForm } from './standard.ts';

/** The profiles as the verifier knows them. Apart from `profiles`, so that the verify page holds no prices. */
export const FORMS: readonly ProfileForm[] = [nanoForm, standardForm, pqForm];

/** Every profile: this list and `FORMS` are all that names them. */
export const profiles = [nano, standard, pq] as const;

export type Profile = (typeof profiles)[number]['name'];

/** The receipt of each profile, as the service emits it. */
export type ReceiptOfProfile = { readonly [P in (typeof profiles)[number] as P['name']]: ReceiptOf<P> };
