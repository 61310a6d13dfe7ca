/** Reads the host's logo and checks that it is a picture that is safe to serve. */
import { readFileSync, statSync } from 'node:fs'
import { HookswitchError } from 'hookswitch'

/** A logo, and how it is served. */
interface Logo {
  readonly bytes: Uint8Array
  readonly type: 'image/png' | 'image/svg+xml'
  /** Its path below the page. */
  readonly name: string
}

/** Maximum size of a logo in bytes. */
const MAX_LOGO_BYTES = 64 * 1024
const PNG_SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])

/**
 * A script or a reference to elsewhere in an SVG is harmless: its policy forbids both. Entities are not: a browser expands
 * them before any policy holds.
 *
 * @param logo path of an SVG or PNG file, or its bytes
 * @throws HookswitchError `InvalidOption` naming `logo`
 */
export function readLogo(logo: string | Uint8Array): Logo {
  const bytes = typeof logo === 'string' ? readFile(logo) : logo
  if (bytes.length > MAX_LOGO_BYTES) throw tooLarge()
  if (PNG_SIGNATURE.equals(bytes.subarray(0, PNG_SIGNATURE.length)))
    return { bytes, type: 'image/png', name: 'logo.png' }
  const problem = svgProblem(bytes)
  if (problem !== undefined) throw invalid(problem)
  return { bytes, type: 'image/svg+xml', name: 'logo.svg' }
}

function readFile(path: string): Uint8Array {
  try {
    // Not read first: it may be any file, and a device may have no end.
    const status = statSync(path)
    if (!status.isFile()) throw invalid('cannot be read (it is no file)')
    if (status.size > MAX_LOGO_BYTES) throw tooLarge()
    return readFileSync(path)
  } catch (thrown) {
    const { code } = thrown as { code?: string }
    if (code === 'InvalidOption') throw thrown
    const reason = code === 'ENOENT' ? 'there is no such file' : (code ?? 'unknown')
    throw invalid(`cannot be read (${reason})`)
  }
}

/** Why bytes are no SVG that is served; `undefined`: they are one. */
function svgProblem(bytes: Uint8Array): string | undefined {
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return NEITHER
  }
  if (text.includes('<!ENTITY')) return 'must be an SVG without entities'
  return startsWithSvg(text) ? undefined : NEITHER
}

const NEITHER = 'must be an SVG or PNG file'

/** What may stand before the first element, and how it ends. */
const PROLOGUE = [
  ['<?', '?>'],
  ['<!--', '-->'],
  ['<!DOCTYPE', '>'],
] as const

function startsWithSvg(text: string): boolean {
  let rest = text.trimStart()
  for (;;) {
    const part = PROLOGUE.find(([start]) => rest.startsWith(start))
    if (!part) return /^<(?:[A-Za-z][\w-]{0,20}:)?svg[\s/>]/.test(rest)
    const end = rest.indexOf(part[1], part[0].length)
    if (end < 0) return false
    rest = rest.slice(end + part[1].length).trimStart()
  }
}

const tooLarge = () => invalid(`must have at most ${MAX_LOGO_BYTES / 1024} KiB`)

const invalid = (problem: string) =>
  new HookswitchError('InvalidOption', `logo ${problem}`, { field: 'logo' })
