/** Responds to the requests of the page's browser: the page, its assets and the session of the host's user. */
import { errorResponse, type HttpService, type RequestRecord, type ResponseRecord } from 'hookswitch/adapter'
import { brandCss } from './brand.js'
import { immutableFile, type PageFile, type PageSettings, readPageFiles, versioned } from './files.js'
import {
  chooseEncoding,
  IMMUTABLE,
  LOGO_HEADERS,
  matchesTag,
  REVALIDATE,
  securityHeaders,
} from './headers.js'
import { readLogo } from './logo.js'
import type { PortalSettings } from './options.js'
import { respondWithSession } from './session.js'

const SESSION = 'session'

/**
 * @param folder the built page; read at the first request
 * @throws HookswitchError `InvalidOption` for a logo that cannot be served
 */
export function createPortalService(settings: PortalSettings, folder: string): HttpService {
  const { path, session } = settings
  const common = securityHeaders(originOf(settings.api), settings.frameAncestors)
  const pageSettings = pageSettingsOf(settings)
  let files: ReadonlyMap<string, PageFile> | undefined

  async function respond(request: RequestRecord): Promise<ResponseRecord> {
    const [target = ''] = request.url.split(/[?#]/, 1)
    if (target !== path && !target.startsWith(`${path}/`)) return refuse(404, 'not_found')
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      return refuse(405, 'invalid_method', { allow: 'GET, HEAD' })
    }
    if (target === path) return redirect(path)
    const name = target.slice(path.length + 1)
    if (name === SESSION) return session ? respondWithSession(session, request) : refuse(404, 'not_found')
    files ??= readPageFiles(folder, pageSettings)
    if (!files) return refuse(503, 'page_not_built')
    const file = files.get(name)
    return file ? sendFile(file, request.headers) : refuse(404, 'not_found')
  }

  return {
    async handle(request) {
      const response = await respond(request)
      const isHead = request.method === 'HEAD'
      const { bytes: _, ...headOnly } = response
      return {
        ...(isHead ? { ...headOnly, body: '' } : response),
        headers: { ...common, ...response.headers },
      }
    },
    handlesPath: (url) => {
      const [target] = url.split(/[?#]/, 1)
      return target === path || target!.startsWith(`${path}/`)
    },
    rootPaths: [path],
  }
}

/** What the page gets of the options, and the files that they make. */
function pageSettingsOf(settings: PortalSettings): PageSettings {
  const { api, session, title, accent, language, helpUrl = '', colorScheme } = settings
  const files = new Map([
    ['brand.css', immutableFile('text/css; charset=utf-8', Buffer.from(brandCss(accent)))],
  ])
  let logo = ''
  if (settings.logo !== undefined) {
    const { name, type, bytes } = readLogo(settings.logo)
    const file = immutableFile(type, bytes, LOGO_HEADERS)
    files.set(name, file)
    logo = versioned(name, file)
  }
  const metas = {
    api,
    session: session ? 'host' : '',
    title,
    logo,
    language,
    'help-url': helpUrl,
    'color-scheme': colorScheme,
  }
  return {
    metas,
    title,
    language: language === 'auto' ? 'en' : language,
    theme: colorScheme === 'auto' ? undefined : colorScheme,
    files,
  }
}

/** The origin of an API elsewhere; `undefined` for a relative URL. */
function originOf(api: string): string | undefined {
  return /^https?:\/\//.test(api) ? new URL(api).origin : undefined
}

/** Relative, so that it holds under every mount point and behind every proxy. */
function redirect(path: string): ResponseRecord {
  const location = `${path.slice(path.lastIndexOf('/') + 1)}/`
  return { status: 308, headers: { location, 'content-length': '0' }, body: '' }
}

function refuse(
  status: number,
  name: string,
  headers: Readonly<Record<string, string>> = {},
): ResponseRecord {
  return errorResponse(status, name, { headers: { 'cache-control': 'no-store', ...headers } })
}

function sendFile(file: PageFile, headers: RequestRecord['headers']): ResponseRecord {
  const fileHeaders = {
    ...file.headers,
    etag: file.tag,
    'cache-control': file.isImmutable ? IMMUTABLE : REVALIDATE,
    vary: 'accept-encoding',
  }
  if (matchesTag(text(headers['if-none-match']), file.tag)) {
    return { status: 304, headers: fileHeaders, body: '' }
  }
  const encoding = chooseEncoding(text(headers['accept-encoding']))
  const bytes = encoding === undefined ? file.plain : file.encoded(encoding)
  return {
    status: 200,
    headers: {
      'content-type': file.type,
      'content-length': String(bytes.length),
      ...(encoding === undefined ? {} : { 'content-encoding': encoding }),
      ...fileHeaders,
    },
    body: '',
    bytes,
  }
}

const text = (value: string | readonly string[] | undefined) =>
  typeof value === 'string' ? value : value?.join(', ')
