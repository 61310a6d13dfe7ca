/** Reads the built page once: `index.html` and the assets, each with its compressed variants. */
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { escapeAttribute } from './meta.js'

/** One file of the page. */
export interface PageFile {
  readonly type: string
  readonly tag: string
  readonly isImmutable: boolean
  readonly plain: Uint8Array
  readonly br?: Uint8Array
  readonly gzip?: Uint8Array
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

const PAGE = 'index.html'

/**
 * Reads the files of a build.
 *
 * @param folder the folder that contains `index.html`
 * @param settings content of `<meta>` elements that the page reads, by name
 * @returns the files by their path below the page; `''` is the page itself. `undefined`: the folder has no page
 */
export function readPageFiles(
  folder: string,
  settings: Readonly<Record<string, string>>,
): ReadonlyMap<string, PageFile> | undefined {
  if (!existsSync(join(folder, PAGE))) return undefined
  const files = new Map<string, PageFile>([['', readPage(join(folder, PAGE), settings)]])
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const type = TYPES[extname(name)]
    if (type === undefined || name === PAGE) continue
    const path = join(folder, name)
    files.set(name.replaceAll('\\', '/'), {
      type,
      isImmutable: true,
      ...content(readFileSync(path)),
      ...variant('br', `${path}.br`),
      ...variant('gzip', `${path}.gz`),
    })
  }
  return files
}

function content(plain: Uint8Array): Pick<PageFile, 'plain' | 'tag'> {
  return { plain, tag: `"${createHash('sha256').update(plain).digest('base64url').slice(0, 22)}"` }
}

function variant(name: 'br' | 'gzip', path: string): Partial<Pick<PageFile, 'br' | 'gzip'>> {
  return existsSync(path) ? { [name]: readFileSync(path) } : {}
}

/** The settings are known at run time only, so the page is compressed here. */
function readPage(path: string, settings: Readonly<Record<string, string>>): PageFile {
  const metas = Object.entries(settings)
    .map(([name, value]) => `<meta name="hookswitch-${name}" content="${escapeAttribute(value)}">`)
    .join('\n    ')
  const plain = Buffer.from(readFileSync(path, 'utf8').replace('<!-- settings -->', () => metas))
  return {
    type: TYPES['.html']!,
    isImmutable: false,
    ...content(plain),
    br: brotliCompressSync(plain),
    gzip: gzipSync(plain),
  }
}
