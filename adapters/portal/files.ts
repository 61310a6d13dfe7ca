/** Reads the built page once: `index.html` and the assets. Each is compressed when it is first requested so. */
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { escapeAttribute } from './meta.js'

/** One file of the page. */
export interface PageFile {
  readonly type: string
  readonly tag: string
  readonly isImmutable: boolean
  /** Further headers of its response. */
  readonly headers?: Readonly<Record<string, string>>
  readonly plain: Uint8Array
  /** The content in an encoding. */
  encoded(encoding: Encoding): Uint8Array
}

type Encoding = 'br' | 'gzip'

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

const PAGE = 'index.html'

/** What the host says of the page. */
export interface PageSettings {
  /** Content of `<meta>` elements that the page reads, by name. */
  readonly metas: Readonly<Record<string, string>>
  readonly title: string
  /** Until the page knows the choice of its user. */
  readonly language: 'en' | 'de'
  /** As `language`; `undefined`: that of the system. */
  readonly theme: 'light' | 'dark' | undefined
  /** The host's own files, by their path below the page; style sheets are linked. */
  readonly files: ReadonlyMap<string, PageFile>
}

/**
 * Reads the files of a build.
 *
 * @param folder the folder that contains `index.html`
 * @returns the files by their path below the page; `''` is the page itself. `undefined`: the folder has no page
 */
export function readPageFiles(
  folder: string,
  settings: PageSettings,
): ReadonlyMap<string, PageFile> | undefined {
  if (!existsSync(join(folder, PAGE))) return undefined
  const files = new Map<string, PageFile>([['', readPage(join(folder, PAGE), settings)], ...settings.files])
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const type = TYPES[extname(name)]
    if (type === undefined || name === PAGE) continue
    files.set(name.replaceAll('\\', '/'), immutableFile(type, readFileSync(join(folder, name))))
  }
  return files
}

/** A file whose URL changes with its content. */
export const immutableFile = (
  type: string,
  bytes: Uint8Array,
  headers: Readonly<Record<string, string>> = {},
): PageFile => ({ type, isImmutable: true, headers, ...content(bytes) })

/** Milliseconds for 100 KB; the highest quality would take 200. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 6 } }

function content(plain: Uint8Array): Pick<PageFile, 'plain' | 'tag' | 'encoded'> {
  const variants: Partial<Record<Encoding, Uint8Array>> = {}
  return {
    plain,
    tag: `"${createHash('sha256').update(plain).digest('base64url').slice(0, 22)}"`,
    encoded(encoding) {
      variants[encoding] ??=
        encoding === 'br' ? brotliCompressSync(plain, BROTLI) : gzipSync(plain, { level: 9 })
      return variants[encoding]
    },
  }
}

function readPage(path: string, { metas, title, language, theme, files }: PageSettings): PageFile {
  const attributes = ` lang="${language}"${theme === undefined ? '' : ` data-theme="${theme}"`}`
  const elements = Object.entries(metas).map(
    ([name, value]) => `<meta name="hookswitch-${name}" content="${escapeAttribute(value)}">`,
  )
  for (const [name, file] of files) {
    if (file.type === TYPES['.css']) elements.push(`<link rel="stylesheet" href="${versioned(name, file)}">`)
  }
  const html = readFileSync(path, 'utf8')
    .replace('<!-- settings -->', () => elements.join('\n    '))
    .replace('<html lang="en">', () => `<html${attributes}>`)
    .replace(/<title>[^<]*<\/title>/, () => `<title>${escapeAttribute(title)}</title>`)
  const plain = Buffer.from(html)
  return { type: TYPES['.html']!, isImmutable: false, ...content(plain) }
}

/** The path of a file with a query that changes with its content. */
export const versioned = (name: string, { tag }: PageFile): string => `${name}?${tag.slice(1, -1)}`
