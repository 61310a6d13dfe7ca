/** Checks a built site: it loads nothing from another host, and its links lead to headings that exist. */
import { readdirSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'

/** Attributes that make a browser load something. Links of text are `<a href>`, and load nothing. */
const LOADS = /<(?!a\s)[a-z][^>]*?\s(?:src|srcset|href|poster|data|action)="(?:https?:)?\/\/[^"]*"[^>]*>/g
const LOADS_OF_CSS = /(?:url\(|@import\s)\s*["']?(?:https?:)?\/\/[^)"'\s;]*/g

/** The attributes of a link whose target is a heading. */
const HEADING_LINK = /<a\s[^>]*?href="([^"#]*)#([^"]+)"/g

/**
 * Returns what is wrong with a built site: one line per problem.
 *
 * @param folder folder of the files
 * @param base path of the site on its host, such as `/hookswitch/`
 */
export function problemsOfSite(folder: string, base: string): readonly string[] {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((file) =>
    file.replaceAll('\\', '/'),
  )
  const read = (file: string) => readFileSync(join(folder, file), 'utf8')
  const pages = new Map(files.filter((file) => file.endsWith('.html')).map((file) => [file, read(file)]))
  const loaded = [
    ...[...pages].flatMap(([file, html]) => [...html.matchAll(LOADS)].map(([tag]) => `${file} loads ${tag}`)),
    ...files
      .filter((file) => file.endsWith('.css'))
      .flatMap((file) => [...read(file).matchAll(LOADS_OF_CSS)].map(([rule]) => `${file} loads ${rule}`)),
  ]
  const ids = new Map(
    [...pages].map(([file, html]) => [
      file,
      new Set([...html.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id)),
    ]),
  )
  const broken = [...pages].flatMap(([file, html]) =>
    [...html.matchAll(HEADING_LINK)].flatMap(([, path = '', id = '']) => {
      if (/^[a-z]+:/.test(path)) return []
      const absolute = path === '' ? file : posix.join('/', posix.dirname(file), path).slice(1)
      const page = path.startsWith(base) ? path.slice(base.length) : absolute
      const target = page === '' || page.endsWith('/') ? `${page}index.html` : page
      const isFound = ids.get(target)?.has(decodeURIComponent(id)) ?? false
      return isFound ? [] : [`${file} has a link to ${path}#${id}, which does not exist`]
    }),
  )
  return [...new Set([...loaded, ...broken])]
}
