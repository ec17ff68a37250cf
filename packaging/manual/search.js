// SPDX-License-Identifier: BSD-3-Clause
// Searches the manual. Stands in place of MkDocs' own script, which fetches its index and so finds nothing
// in a manual that is opened from a file: here the index is a script (index.js), too.
(() => {
  const SUMMARY = 200, SHORTEST = 3;
  const input = document.getElementById('mkdocs-search-query');
  const results = document.getElementById('mkdocs-search-results');

  const load = (name) => new Promise((loaded) => {
    const script = document.createElement('script');
    script.src = `${base_url}/search/${name}`;
    script.onload = loaded;
    document.head.append(script);
  });

  const add = (parent, kind, text) => {
    const element = document.createElement(kind);
    element.textContent = text;
    parent.append(element);
    return element;
  };

  // Each word as it is, and as the beginning of a longer one.
  const asQuery = (text) => text.split(/[\s:~^*+-]+/).filter(Boolean).map((word) => `${word}^10 ${word}*`).join(' ');

  // A section's title says little without its page's: NAME.
  const titled = (pages, place) => {
    const page = pages.get(place.split('#')[0]);
    return page && page.location !== place ? `${page.title}: ${pages.get(place).title}` : pages.get(place).title;
  };

  const show = (pages, index, text) => {
    results.replaceChildren();
    const found = text.length < SHORTEST ? [] : index.search(asQuery(text));
    for (const {ref} of found) {
      const article = add(results, 'article', '');
      add(add(article, 'h3', ''), 'a', titled(pages, ref)).href = `${base_url}/${ref}`;
      add(article, 'p', pages.get(ref).text.slice(0, SUMMARY));
    }
    if (found.length === 0) add(results, 'p', results.dataset.noResultsText);
  };

  if (!input || !results) return;  // not the page of results
  Promise.all([load('lunr.js'), load('index.js')]).then(() => {
    const pages = new Map(searched_pages.map((page) => [page.location, page]));
    const index = lunr(function () {
      this.ref('location');
      this.field('title', {boost: 10});
      this.field('text');
      for (const page of pages.values()) this.add(page);
    });
    input.addEventListener('keyup', () => show(pages, index, input.value));
    input.value = new URLSearchParams(location.search).get('q') ?? '';
    show(pages, index, input.value);
  });
})();
