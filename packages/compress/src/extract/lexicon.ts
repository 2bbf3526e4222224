import { termsOf } from './terms.ts';

/** Everyday words that stand for one another in questions and answers, a group a line. */
const groups = `
pet dog puppy cat kitten hamster rabbit parrot bird fish animal vet breed beagle terrier retriever
job work career employ company office position role profession occupation hire boss manager colleague coworker promotion salary interview
child kid son daughter baby boy girl toddler teen twins newborn parent
mother mom mum mama father dad papa parent
sister brother sibling twin
grandmother grandma granny grandfather grandpa grandparent
uncle aunt cousin nephew niece relative
wife husband spouse partner marry marriage wedding engage engaged propose bride anniversary divorce
girlfriend boyfriend partner date dating relationship fiance
name call called named
buy purchase bought order acquire shop store get paid
price cost pay spend expense fee euro dollar pound bill afford cheap expensive budget rent worth
vacation trip travel holiday journey visit tour fly flight abroad cruise
country nation city town village place region homeland
home house apartment flat cottage condo room landlord rent move relocate neighbourhood
car vehicle drive truck van automobile suv license
bike bicycle cycle cycling ride
train railway railroad tram subway station commute
movie film picture cinema theatre watch documentary series show director directed actor
book novel read author write story chapter publish literature manuscript memoir
music song band concert sing singer choir instrument piano guitar violin drum album gig orchestra perform
paint painting art artist draw drawing sketch gallery exhibition canvas sculpture pottery ceramics clay studio
photo photograph picture camera shoot image
dance ballet salsa choreography
sport game team match league tournament play score win lose champion goal coach competition
run running marathon race jog sprint
swim pool lake beach ocean sea surf dive kayak boat sail
hike hiking trail mountain climb camp camping outdoors forest park nature ridge
exercise gym workout fitness yoga training weights
food eat meal dish cook cooking recipe dinner lunch breakfast restaurant cuisine bake snack
bread cake pastry dessert sweet sugar chocolate cookie pie sourdough bakery loaf
drink coffee tea beer wine juice alcohol bar cafe
ill sick illness disease diagnose condition symptom health medical allergy allergic infection cancer fever
doctor physician hospital clinic nurse surgery operation therapist treatment medicine tablet pill physio pharmacist
hurt injure injury wound pain break broke twist sprain accident fall
tired fatigue exhausted sleep insomnia rest
sad upset cry grief depressed mourn lonely
happy glad joy excited thrilled delighted proud
scared afraid fear terrified anxious anxiety nervous worried phobia frighten
angry mad furious annoyed argue fight quarrel hurtful resent
die died death dead pass funeral bury grave goodbye
friend buddy pal mate friendship
help support assist aid volunteer charity donate donation cause community shelter
school college university class course degree study student teacher teach learn graduate thesis exam scholarship lesson tuition
scientist research lab experiment science engineer
computer laptop pc phone smartphone device software app program code tablet
garden plant grow flower tree vegetable seed soil
begin start launch open first commence
end stop quit finish close final last over
make create build construct craft produce design made
give gift present receive donate
find found discover locate recover
lose lost miss stolen steal missing
decide choose plan intend want goal hope dream
speak talk say tell discuss speech conversation
reason why because since motivate inspire
like love enjoy favourite favorite prefer hobby fond fan pastime interest passion
hate dislike avoid cannot stand
birthday born age old celebrate party
birthplace born hometown native origin raised grew roots
religion church faith pray god mosque temple spiritual
protest demonstration rally march activism parade pride
court judge law lawyer legal police sue crime
money save saving bank loan debt invest finance
weather rain snow storm sun flood
cloth clothes dress shirt shoe jacket scarf wear outfit
colour color red blue green yellow white black pink purple orange brown grey
big large huge tall small tiny size
fast quick slow speed
fail failure error crash fault break outage problem issue incident
fix repair restore solve resolve
reject refuse deny decline turned
month week day weekend morning evening night date time
phone number call contact
email mail letter message
address street road location
password code key secret pin token credential
owner responsible charge lead head director chief manage
deadline due until expire
limit maximum cap minimum threshold
version release update upgrade deploy`;

const byTerm = new Map<string, Set<string>>();

/** The terms that may stand in an answer for one of a question; the term itself is not among them. */
export function relatedTerms(term: string): ReadonlySet<string> {
  if (byTerm.size === 0) fill();
  return byTerm.get(term) ?? none;
}

const none: ReadonlySet<string> = new Set();

function fill(): void {
  for (const group of groups.trim().split('\n')) {
    const terms = [...new Set(termsOf(group))];
    for (const term of terms) {
      const related = byTerm.get(term) ?? new Set();
      for (const other of terms) if (other !== term) related.add(other);
      byTerm.set(term, related);
    }
  }
}
