import { nano, nanoForm } from './nano.ts';
import { pq, pqForm } from './pq.ts';
import type { ProfileForm, ReceiptOf } from './profile.ts';
import { standard, standardForm } from './standard.ts';

/** The part of each profile that the verifier needs. It is a list of its own, so that the verify page holds no prices. */
export const FORMS: readonly ProfileForm[] = [nanoForm, standardForm, pqForm];

/** Every profile. No other list but this one and `FORMS` names them. */
export const profiles = [nano, standard, pq] as const;

export type Profile = (typeof profiles)[number]['name'];

/** The type of the receipts that the service emits, by profile. */
export type ReceiptOfProfile = { readonly [P in (typeof profiles)[number] as P['name']]: ReceiptOf<P> };
