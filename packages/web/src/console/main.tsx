import { render } from 'preact';
import { App } from './app.tsx';
import { followOperatorLink, resume } from './identity/identity.ts';
import { pages } from './pages.ts';
import { followLinks } from './router.ts';

// Before the first drawing, so that nobody who is signed in sees the page of a stranger for a moment.
followOperatorLink();
await resume();
followLinks(pages);
const place = document.getElementById('app');
if (place !== null) render(<App />, place);
