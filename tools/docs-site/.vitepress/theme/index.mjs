import './style.css';
import { useData } from 'vitepress';
import DefaultTheme from 'vitepress/theme-without-fonts';
import { h } from 'vue';
import Diagram from './Diagram.vue';
import SizingCalculator from './SizingCalculator.vue';

export default {
  extends: DefaultTheme,
  Layout: {
    setup() {
      const { page } = useData();
      const isSizing = () => page.value.filePath === 'docs/sizing.md';
      return () => h(DefaultTheme.Layout, null, { 'doc-before': () => (isSizing() ? h(SizingCalculator) : null) });
    },
  },
  enhanceApp({ app }) {
    app.component('Diagram', Diagram);
  },
};
