import '@fontsource-variable/inter/wght.css';
import './styles/index.css';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app.js';
import { loadPastedLinks } from './session/sign-in-link.js';
import { forgetOpeningOnReload } from './shared/history-entry.js';

forgetOpeningOnReload();
loadPastedLinks();
const root = document.getElementById('root');
if (root) {
  createRoot(root).render(
    <StrictMode>
      <App />
    </StrictMode>,
  );
}
