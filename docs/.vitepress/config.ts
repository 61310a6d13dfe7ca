/** The documentation as a site: `npm run docs` builds it into docs/.vitepress/dist. */
import { readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitepress'
import { problemsOfSite } from './check-site.js'
import { copyPages, groupsOfIndex, linkOnSite, PAGES, REPOSITORY, repositoryPath } from './pages.js'
import { TYPE_PAGES, writeTypePages } from './types.js'

/** Path of the site on GitHub Pages. */
const BASE = '/hookswitch/'

const TYPE_TABLES = `@media (min-width: 768px) {
  .vp-doc[class*='_types_'] td code { overflow-wrap: anywhere }
  .vp-doc[class*='_types_'] td:first-child { min-width: 12rem }
}`

const { description } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))

/** Makes the anchor of a heading as GitHub does, so that links to headings lead to the same place in both. */
function slugify(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_ -]/gu, '')
    .replaceAll(' ', '-')
}

export default async () => {
  copyPages()
  await writeTypePages()
  return defineConfig({
    title: 'hookswitch',
    description,
    lang: 'en',
    base: BASE,
    head: [
      // No icon: browsers would request /favicon.ico.
      ['link', { rel: 'icon', href: 'data:,' }],
      // Long types of the pages below /types wrap, so that their tables fit; names of options do not.
      ['style', {}, TYPE_TABLES],
    ],
    srcDir: relative(fileURLToPath(new URL('..', import.meta.url)), PAGES),
    // The HTTP reference is one page.
    vite: { build: { chunkSizeWarningLimit: 2_500 } },
    markdown: {
      anchor: { slugify },
      // Braces are text.
      attrs: { disable: true },
      config(md) {
        md.core.ruler.push('links-on-site', ({ tokens, env }) => {
          for (const token of tokens.flatMap(({ children }) => children ?? [])) {
            const name = { link_open: 'href', image: 'src' }[token.type]
            if (name) token.attrSet(name, linkOnSite(env.relativePath, token.attrGet(name) ?? ''))
          }
        })
      },
    },
    transformPageData(page) {
      const path = repositoryPath(page.relativePath)
      if (path === undefined) page.frontmatter.editLink = false
      else page.filePath = path
      if (page.relativePath !== 'index.md') return
      page.frontmatter.layout = 'home'
      page.frontmatter.hero = {
        name: 'hookswitch',
        text: 'Webhooks for telephony platforms',
        tagline: description,
        actions: [
          { text: 'Five minutes', link: '/overview#five-minutes' },
          { text: 'Getting started', link: '/getting-started', theme: 'alt' },
          { text: 'HTTP API', link: '/http/reference', theme: 'alt' },
        ],
      }
    },
    themeConfig: {
      nav: [
        { text: 'Getting started', link: '/getting-started' },
        { text: 'API', link: '/embed/api' },
        { text: 'HTTP API', link: '/http/reference' },
        { text: 'Changes', link: '/changelog' },
      ],
      sidebar: [...groupsOfIndex(), { text: 'Types', collapsed: true, items: TYPE_PAGES }],
      outline: [2, 3],
      search: { provider: 'local' },
      editLink: { pattern: `${REPOSITORY}/edit/main/:path`, text: 'Edit this page' },
      socialLinks: [{ icon: 'github', link: REPOSITORY }],
    },
    buildEnd({ outDir }) {
      const problems = problemsOfSite(outDir, BASE)
      if (problems.length > 0) throw new Error(problems.join('\n'))
    },
  })
}
