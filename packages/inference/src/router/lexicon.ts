import { COMMON, CUE_GROUPS, CUES } from './cues.ts';

/** Groups of English words whose share of a text is counted. Their order is the order of the features made of them. */
const GROUPS = {
  negation: 'not no never neither nor none without except least false incorrect cannot',
  condition: 'if unless suppose assume given when whenever provided',
  modal: 'would could should might must may can will',
  first_person: 'i my me mine myself we our us',
  third_person: 'he she his her him they them their',
  people: 'man woman boy girl child person people student teacher husband wife friend',
  law: 'defendant plaintiff court statute contract liable law jury convicted constitutional sued action crime murder negligence tort clause congress amendment',
  medicine:
    'patient symptoms treatment disease blood pain clinical diagnosis therapy infection doctor hospital syndrome muscle nerve tissue bone drug',
  biology:
    'cell cells gene genes dna protein species evolution enzyme membrane chromosome plants animals bacteria virus population selection organism',
  chemistry:
    'acid reaction molecule atoms electron electrons bond ion compound oxidation mol solution ph hydrogen oxygen carbon',
  physics:
    'velocity force energy speed mass current voltage circuit magnetic electric field wavelength light heat temperature pressure gravity acceleration motion wave',
  mathematics:
    'function polynomial equation graph integer integers prime number numbers triangle area vector matrix group ring set root sum angle value theorem finite cyclic subgroup real positive degree factor',
  computing:
    'algorithm program code computer data array variable input output network server memory processor bits binary tree loop string list method class software attack password',
  economics:
    'price demand supply market cost inflation monetary fiscal economy tax income bank goods firm interest rate gdp unemployment aggregate consumer investment currency curve',
  accounting:
    'company cash bonds stock shares asset assets liability revenue expense auditor financial audit net',
  history:
    'war king empire century government revolution president political party treaty colonies slavery passage excerpt church',
  philosophy:
    'moral morally argument claims philosophy ethics virtue premise conclusion theory utilitarianism fallacy logic valid invalid truth',
  psychology:
    'behavior psychologist learning memory anxiety personality cognitive self social emotional client research reinforcement',
  statistics:
    'sample mean median variance regression correlation distribution hypothesis standard deviation test probability random estimate significance error confidence',
  religion: 'god religion religious buddhist hindu jewish islam christian temple prayer gods festival',
  geography: 'countries country city cities land migration region world states africa europe asia',
  commerce: 'product brand customers marketing advertising consumers sales management organization business',
  cause: 'because therefore since thus hence so although however',
  comparison:
    'more less greater most fewer higher lower same larger smaller increase decrease increases decreases',
  quantity: 'all some any every each only both either always often sometimes',
  asking: 'what which how why who where',
} as const;

export type WordGroup = keyof typeof GROUPS;

export const WORD_GROUPS = Object.keys(GROUPS) as readonly WordGroup[];

/** What is known of a word, looked up once for all that is counted. */
interface Meaning {
  readonly groups: number[];
  readonly cues: number[];
  common: boolean;
}

const MEANINGS = new Map<string, Meaning>();
for (const word of COMMON.split(' ')) meaningOf(word).common = true;
for (const [index, group] of WORD_GROUPS.entries())
  for (const word of GROUPS[group].split(' ')) meaningOf(word).groups.push(index);
for (const [index, group] of CUE_GROUPS.entries())
  for (const word of CUES[group].split(' ')) meaningOf(word).cues.push(index);

function meaningOf(word: string): Meaning {
  const known = MEANINGS.get(word) ?? { groups: [], cues: [], common: false };
  MEANINGS.set(word, known);
  return known;
}

export interface WordCounts {
  /** Words of each group, in the order of `WORD_GROUPS`. */
  readonly groups: readonly number[];
  /** Words of each group of cues, in the order of `CUE_GROUPS`. */
  readonly cues: readonly number[];
  /** Words that are not among the commonest. */
  readonly rare: number;
}

/** @param words in lower case */
export function countWords(words: readonly string[]): WordCounts {
  const groups: number[] = WORD_GROUPS.map(() => 0);
  const cues: number[] = CUE_GROUPS.map(() => 0);
  let common = 0;
  for (const word of words) {
    const meaning = MEANINGS.get(word);
    if (meaning === undefined) continue;
    if (meaning.common) common++;
    for (const group of meaning.groups) groups[group] = (groups[group] ?? 0) + 1;
    for (const cue of meaning.cues) cues[cue] = (cues[cue] ?? 0) + 1;
  }
  return { groups, cues, rare: words.length - common };
}
