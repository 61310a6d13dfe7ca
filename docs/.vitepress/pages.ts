/**
 * The pages of the site: README.md, CHANGELOG.md and docs, copied under the paths that they have on the site, and a page for
 * each subpath of the package, made from its types. Links between pages are those of the repository; the site changes them.
 */
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

export const REPOSITORY = 'https://github.com/hookswitch/hookswitch'

/** Folder of the pages, which each build writes anew. */
export const PAGES = join(ROOT, 'docs/.vitepress/pages')

/** Folder of the pages that are made from types, below the other pages. */
export const TYPES = 'types'

/** Pages that are not in docs: path on the site, and path in the repository. */
const OUTSIDE_DOCS = [
  ['overview.md', 'README.md'],
  ['changelog.md', 'CHANGELOG.md'],
] as const

/** Returns the path on the site of a file of the repository; `undefined` for a file that the site does not have. */
export function sitePath(file: string): string | undefined {
  const outside = OUTSIDE_DOCS.find(([, source]) => source === file)
  if (outside) return outside[0]
  return /^docs\/(?!\.)/.test(file) ? file.slice(5).replace(/(^|\/)README\.md$/, '$1index.md') : undefined
}

/** Returns the path in the repository of a page of the site; `undefined` for a page that is made from types. */
export function repositoryPath(page: string): string | undefined {
  const outside = OUTSIDE_DOCS.find(([path]) => path === page)
  if (outside) return outside[1]
  return page.startsWith(`${TYPES}/`) ? undefined : `docs/${page.replace(/(^|\/)index\.md$/, '$1README.md')}`
}

const OWN_URL =
  /^https:\/\/(?:github\.com\/hookswitch\/hookswitch\/(?:blob|raw|tree)|raw\.githubusercontent\.com\/hookswitch\/hookswitch)\/main\//

/**
 * Returns where a link of a page leads on the site: to another page, or to the file on GitHub.
 *
 * @param page path of the page on the site
 * @param target the link as it is written in the repository
 */
export function linkOnSite(page: string, target: string): string {
  const from = repositoryPath(page)
  const own = OWN_URL.exec(target)?.[0]
  if (from === undefined || target.startsWith('#') || (own === undefined && /^[a-z]+:/.test(target)))
    return target
  const [path = '', anchor] = target.slice(own?.length ?? 0).split('#')
  const file = own === undefined ? posix.join(posix.dirname(from), path) : path
  const to = sitePath(file)
  const link =
    to === undefined ? `${REPOSITORY}/blob/main/${file}` : `./${posix.relative(posix.dirname(page), to)}`
  return anchor === undefined ? link : `${link}#${anchor}`
}

/** Copies the documents of the repository to {@link PAGES}. */
export function copyPages(): void {
  rmSync(PAGES, { recursive: true, force: true })
  const files = readdirSync(join(ROOT, 'docs'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => posix.join(...join(parentPath, name).slice(ROOT.length).split(/[\\/]/)))
  for (const file of [...files, ...OUTSIDE_DOCS.map(([, source]) => source)]) {
    const path = sitePath(file)
    if (path === undefined) continue
    mkdirSync(dirname(join(PAGES, path)), { recursive: true })
    cpSync(join(ROOT, file), join(PAGES, path))
  }
}

/** A group of links beside each page. */
export interface Group {
  readonly text: string
  readonly items: { readonly text: string; readonly link: string }[]
}

/** Returns the groups of docs/README.md: its headings, with the links before the colon of each entry. */
export function groupsOfIndex(): readonly Group[] {
  const groups: Group[] = [{ text: 'Start', items: [{ text: 'Overview', link: '/overview' }] }]
  for (const line of readFileSync(join(ROOT, 'docs/README.md'), 'utf8').split('\n')) {
    if (line.startsWith('## ')) groups.push({ text: line.slice(3), items: [] })
    if (!line.startsWith('* ')) continue
    const [entry = ''] = line.split('): ')
    for (const [, text = '', target = ''] of `${entry})`.matchAll(/\[([^\]]+)\]\(([^)]+)\)/g)) {
      const path = sitePath(posix.join('docs', target))
      groups.at(-1)!.items.push({ text, link: `/${path?.replace(/(index)?\.md$/, '')}` })
    }
  }
  return groups
}
