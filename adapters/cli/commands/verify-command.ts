/** The command `verify`: checks the signature of a stored request. */
import { verify } from 'hookswitch'
import { wrongFlag } from '../read-flags.js'
import { type Command, CommandFailed } from './command.js'
import { integerFlag, readSecretFile } from './values.js'

export const VERIFY_COMMAND: Command = {
  words: ['verify'],
  summary: 'check the signature of a stored webhook request',
  details:
    'Needs the secret in HOOKSWITCH_WEBHOOK_SECRET or --secret-file. Exits with 1 if the signature is invalid. The age of the request counts only with --tolerance.',
  isOffline: true,
  flags: [
    {
      name: 'headers',
      value: 'FILE',
      isFile: true,
      description: "the headers: 'name: value' lines, or a JSON object",
    },
    {
      name: 'body',
      value: 'FILE',
      isFile: true,
      description: 'the body, byte for byte, - for the standard input (empty)',
    },
    {
      name: 'secret-file',
      value: 'FILE',
      isFile: true,
      description: 'file with the signing secret, whsec_…',
    },
    { name: 'tolerance', value: 'SECONDS', description: 'greatest age of the request (any)' },
  ],
  async run(context) {
    const path = context.flag('headers')
    if (path === undefined) throw wrongFlag('--headers', 'is required: the file with the headers')
    const headers = parseHeaders((await context.read(path, '--headers')).toString('utf8'))
    const bodyPath = context.flag('body')
    const body = bodyPath === undefined ? Buffer.alloc(0) : await context.read(bodyPath, '--body')
    const secretPath = context.flag('secret-file')
    const secret =
      secretPath === undefined
        ? context.env.HOOKSWITCH_WEBHOOK_SECRET
        : await readSecretFile(context, secretPath, '--secret-file')
    if (!secret) throw wrongFlag('HOOKSWITCH_WEBHOOK_SECRET', 'is required, or --secret-file')
    const toleranceSeconds = integerFlag(context, 'tolerance', 0)
    const sentAt = headers['webhook-timestamp'] ?? ''
    const nowSeconds = Math.floor(context.now() / 1_000)
    // Without a tolerance, the request is checked as at its own time.
    const time =
      toleranceSeconds === undefined && /^\d{1,15}$/.test(sentAt)
        ? { nowSeconds: Number(sentAt) }
        : { nowSeconds, ...(toleranceSeconds === undefined ? {} : { toleranceSeconds }) }
    const result = verify({ headers, body }, secret.split(/\s+/), time)
    await context.output.text(
      result.ok ? `valid: ${result.id}` : `invalid: ${result.reason}`,
      result.ok ? { valid: true, id: result.id } : { valid: false, reason: result.reason },
    )
    if (!result.ok) throw new CommandFailed(1)
  },
}

/** Reads `Name: value` lines, with or without a request line before them, or a JSON object. Names in lower case. @internal */
export function parseHeaders(text: string): Readonly<Record<string, string>> {
  const clean = text.replace(/^\uFEFF/, '')
  return Object.fromEntries(clean.trimStart().startsWith('{') ? jsonHeaders(clean) : lineHeaders(clean))
}

function jsonHeaders(text: string): readonly (readonly [string, string])[] {
  try {
    return Object.entries(JSON.parse(text) as object).map(([name, value]) => [
      name.toLowerCase(),
      String(value),
    ])
  } catch {
    throw wrongFlag('--headers', 'begins like a JSON object but is not JSON')
  }
}

function lineHeaders(text: string): readonly (readonly [string, string])[] {
  return text.split(/\r?\n/).flatMap((line) => {
    const [, name, value] = /^([!#$%&'*+.^`|~\w-]+):(.*)$/.exec(line) ?? []
    return name === undefined ? [] : [[name.toLowerCase(), value!.trim()] as const]
  })
}
