/** The help of a command and of a group, from the table of commands. Pure. */
import { COMMON_FLAGS, CONNECTION_FLAGS, LIST_FLAGS } from './arguments.js'
import type { Command, Flag, Operand } from './command.js'

const WIDTH = 110
/** Column of the descriptions. */
const INDENT = 26

/** What the exit codes of these commands mean. @internal */
export const EXIT_CODES: readonly (readonly [code: number, meaning: string])[] = [
  [0, 'done'],
  [1, 'failed, or an invalid signature (verify)'],
  [2, 'wrong flag, operand or variable, or refused as invalid (400)'],
  [3, 'not logged in or not allowed (401, 403, 423)'],
  [4, 'does not exist (404)'],
  [5, 'conflict: changed or taken meanwhile (409, 412)'],
  [6, 'the service cannot be reached, or is overloaded (no response, 429, 502, 503, 504)'],
]

/** `--limit N`. */
const usageOf = ({ name, value }: Flag) => `--${name}${value === undefined ? '' : ` ${value}`}`
const operandText = ({ name, isOptional }: Operand) => (isOptional ? `[${name}]` : name)

/** Returns the help of one command. */
export function commandHelp(command: Command): string {
  const { words, operands = [], flags = [], summary, details, isList, isOffline } = command
  const usage = ['hookswitch', ...words, ...operands.map(operandText), '[flags]'].join(' ')
  const sections = [
    `Usage: ${usage}`,
    sentence(summary),
    ...(details ? [details.includes('\n') ? details : wrap(details, WIDTH).join('\n')] : []),
    ...(operands.length > 0 ? [rows(operands.map(({ name, description }) => [name, description]))] : []),
    flagRows([...flags, ...(isList ? LIST_FLAGS : [])]),
    flagRows([...(isOffline ? [] : CONNECTION_FLAGS), ...COMMON_FLAGS]),
  ]
  return `${sections.filter((text) => text !== '').join('\n\n')}\n`
}

/** Returns the help of a group of commands. */
export function groupHelp(word: string, summary: string, commands: readonly Command[]): string {
  const own = commands.filter(({ words }) => words[0] === word)
  const list = own.map(({ words, operands = [], summary: text }) => [
    [words.slice(1).join(' '), ...operands.map(operandText)].join(' '),
    text,
  ])
  return `Usage: hookswitch ${word} COMMAND [flags]

${sentence(summary)}

${rows(list as [string, string][])}

${flagRows(CONNECTION_FLAGS)}

${flagRows(COMMON_FLAGS)}

'hookswitch ${word} COMMAND --help' shows the flags of a command.
`
}

const sentence = (text: string) => `${text[0]!.toUpperCase()}${text.slice(1)}.`
const flagRows = (flags: readonly Flag[]) =>
  rows(
    flags.map((flag) => [
      usageOf(flag),
      `${flag.description}${flag.isRepeatable ? ' (repeatable)' : ''}${possible(flag)}`,
    ]),
  )
const possible = ({ values, value }: Flag) =>
  values && values.join('|') !== value ? `: ${values.join(', ')}` : ''

function rows(entries: readonly (readonly [name: string, text: string])[]): string {
  return entries
    .flatMap(([name, text]) => {
      const [first = '', ...rest] = wrap(text, WIDTH - INDENT)
      const label = `  ${name}`
      const head =
        label.length + 2 > INDENT
          ? [label, `${' '.repeat(INDENT)}${first}`]
          : [`${label.padEnd(INDENT)}${first}`]
      return [...head, ...rest.map((line) => `${' '.repeat(INDENT)}${line}`)]
    })
    .join('\n')
}

function wrap(text: string, width: number): readonly string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return [...lines, line]
}
