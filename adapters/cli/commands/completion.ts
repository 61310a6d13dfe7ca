/** Completion scripts of shells, from the table of commands. Pure. */
import { MIGRATE_HELP, ROTATE_SECRET_HELP, SERVE_HELP, VACUUM_HELP } from '../help.js'
import { flagsOf } from './arguments.js'
import type { Command, Flag } from './command.js'

export const SHELLS = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof SHELLS)[number]

/** One word that may follow. */
interface Choice {
  readonly word: string
  readonly description: string
}

/** A command as the shells see it. */
interface Entry {
  /** `webhooks list`; empty for the program. */
  readonly path: string
  /** Its commands, or its flags. */
  readonly choices: readonly Choice[]
  /** Whether it takes the name of a file. */
  readonly takesFile: boolean
}

/** What all flags of a kind complete to. */
interface FlagValues {
  readonly files: readonly string[]
  /** Flags with a value that cannot be completed. */
  readonly free: readonly string[]
  readonly fixed: ReadonlyMap<string, readonly string[]>
}

const HOSTED: Readonly<Record<string, readonly [summary: string, help: string]>> = {
  serve: ['serve the HTTP API and deliver webhooks', SERVE_HELP],
  migrate: ['move all data from a SQLite file to PostgreSQL', MIGRATE_HELP],
  'rotate-secret': ['replace the secret that encrypts API keys and signing secrets', ROTATE_SECRET_HELP],
  vacuum: ['give free space inside a SQLite file back to the disk', VACUUM_HELP],
}

const CONFIG: readonly Choice[] = [
  { word: 'print', description: 'show the settings that hold and where they came from' },
  { word: 'check', description: 'check a configuration file' },
]

/**
 * @param groups the first words that have several commands, with a sentence each
 */
export function completionScript(
  shell: Shell,
  commands: readonly Command[],
  groups: Readonly<Record<string, string>>,
): string {
  const entries = entriesOf(commands, groups)
  const values = valuesOf(commands)
  if (shell === 'bash') return bash(entries, values)
  return shell === 'zsh' ? zsh(entries, values) : fish(entries, values)
}

function entriesOf(commands: readonly Command[], groups: Readonly<Record<string, string>>): readonly Entry[] {
  const single = commands.filter(({ words }) => words.length === 1)
  const top: Choice[] = [
    ...Object.entries(HOSTED).map(([word, [description]]) => ({ word, description })),
    { word: 'config', description: 'show the settings, check a configuration file' },
    { word: 'help', description: 'show the help of a command' },
    ...Object.entries(groups).map(([word, description]) => ({ word, description })),
    ...single.map(({ words, summary }) => ({ word: words[0]!, description: summary })),
  ]
  const flagChoices = (flags: readonly Flag[]) =>
    flags.map(({ name, description }) => ({ word: `--${name}`, description }))
  return [
    {
      path: '',
      choices: [
        ...top,
        { word: '--help', description: 'show the help' },
        { word: '--version', description: 'show the version' },
      ],
      takesFile: false,
    },
    ...Object.entries(HOSTED).map(([path, [, help]]) => ({
      path,
      choices: flagsInHelp(help),
      takesFile: false,
    })),
    { path: 'config', choices: CONFIG, takesFile: false },
    {
      path: 'config print',
      choices: [...flagsInHelp(SERVE_HELP), { word: '--json', description: 'print one JSON document' }],
      takesFile: false,
    },
    {
      path: 'config check',
      choices: [{ word: '--admin-url', description: 'show what a reload of this service would do' }],
      takesFile: true,
    },
    { path: 'help', choices: top, takesFile: false },
    ...Object.keys(groups).map((path) => ({
      path,
      choices: commands
        .filter(({ words }) => words[0] === path)
        .map(({ words, summary }) => ({ word: words[1]!, description: summary })),
      takesFile: false,
    })),
    ...commands.map((command) => ({
      path: command.words.join(' '),
      choices: [
        ...(command.words[0] === 'completion'
          ? SHELLS.map((word) => ({ word, description: `script for ${word}` }))
          : []),
        ...flagChoices(flagsOf(command)),
      ],
      takesFile: command.operands?.some(({ isFile }) => isFile) ?? false,
    })),
  ]
}

/** The flags that a help text lists. */
function flagsInHelp(help: string): readonly Choice[] {
  return [...help.matchAll(/^ {2}(--[a-z-]+)(?: \S+)?(?: {2,}(.*))?$/gm)].map(
    ([, word, description = '']) => ({
      word: word!,
      description,
    }),
  )
}

/** The flags with a value that a help text lists: `--config FILE`, `--log json|pretty`. */
function valueFlagsInHelp(help: string): readonly Flag[] {
  return [...help.matchAll(/^ {2}--([a-z-]+) (\S+)(?: {2}|$)/gm)].map(([, name, value]) => {
    const values = /^[a-z]+(\|[a-z]+)+$/.test(value!) ? value!.split('|') : undefined
    return {
      name: name!,
      value: value!,
      description: '',
      ...(value!.startsWith('FILE') ? { isFile: true } : values && { values }),
    }
  })
}

function valuesOf(commands: readonly Command[]): FlagValues {
  const ofCommands = commands.flatMap(flagsOf)
  const names = new Set(ofCommands.map(({ name }) => name))
  const ofHelp = Object.values(HOSTED).flatMap(([, help]) => valueFlagsInHelp(help))
  const flags = [...ofCommands, ...ofHelp.filter(({ name }) => !names.has(name))].filter(
    ({ value }) => value !== undefined,
  )
  return flagValues(flags)
}

function flagValues(flags: readonly Flag[]): FlagValues {
  const names = (chosen: readonly Flag[]) => [...new Set(chosen.map(({ name }) => `--${name}`))]
  return {
    files: names(flags.filter(({ isFile }) => isFile)),
    free: names(flags.filter(({ isFile, values }) => !isFile && !values)),
    fixed: new Map(flags.flatMap(({ name, values }) => (values ? [[`--${name}`, values] as const] : []))),
  }
}

/** A word in single quotes, for bash, zsh and fish. */
const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`
const alternatives = (words: readonly string[]) => words.map(quoted).join('|')

function bash(entries: readonly Entry[], { files, free, fixed }: FlagValues): string {
  const paths = entries.map(({ path }) => path).filter((path) => path !== '')
  const withFile = entries.filter(({ takesFile }) => takesFile).map(({ path }) => path)
  return `# Completion of hookswitch for bash: source <(hookswitch completion bash)
_hookswitch() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} command='' words='' i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "\${command:+$command }\${COMP_WORDS[i]}" in
      ${alternatives(paths)}) command="\${command:+$command }\${COMP_WORDS[i]}" ;;
    esac
  done
  case "$prev" in
    ${alternatives(files)}) COMPREPLY=($(compgen -f -- "$cur")); return ;;
${[...fixed].map(([flag, values]) => `    ${quoted(flag)}) COMPREPLY=($(compgen -W ${quoted(values.join(' '))} -- "$cur")); return ;;\n`).join('')}    ${alternatives(free)}) return ;;
  esac
  case "$command" in
${entries.map(({ path, choices }) => `    ${quoted(path)}) words=${quoted(choices.map(({ word }) => word).join(' '))} ;;\n`).join('')}  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
  case "$command" in
    ${alternatives(withFile)}) COMPREPLY+=($(compgen -f -- "$cur")) ;;
  esac
}
complete -F _hookswitch hookswitch
`
}

function zsh(entries: readonly Entry[], { files, free, fixed }: FlagValues): string {
  const paths = entries.map(({ path }) => path).filter((path) => path !== '')
  const withFile = entries.filter(({ takesFile }) => takesFile).map(({ path }) => path)
  const item = ({ word, description }: Choice) => quoted(`${word.replaceAll(':', '\\:')}:${description}`)
  return `#compdef hookswitch
# Completion of hookswitch for zsh: source <(hookswitch completion zsh)
_hookswitch() {
  local command='' i
  local -a items
  for ((i = 2; i < CURRENT; i++)); do
    case "\${command:+$command }\${words[i]}" in
      (${alternatives(paths)}) command="\${command:+$command }\${words[i]}" ;;
    esac
  done
  case "\${words[CURRENT-1]}" in
    (${alternatives(files)}) _files; return ;;
${[...fixed].map(([flag, values]) => `    (${quoted(flag)}) compadd -- ${values.map(quoted).join(' ')}; return ;;\n`).join('')}    (${alternatives(free)}) return ;;
  esac
  case "$command" in
${entries.map(({ path, choices }) => `    (${quoted(path)}) items=(${choices.map(item).join(' ')}) ;;\n`).join('')}  esac
  _describe 'hookswitch' items
  case "$command" in
    (${alternatives(withFile)}) _files ;;
  esac
}
compdef _hookswitch hookswitch
`
}

function fish(entries: readonly Entry[], { files, free, fixed }: FlagValues): string {
  const paths = entries.map(({ path }) => path).filter((path) => path !== '')
  const lines = entries.flatMap(({ path, choices, takesFile }) => {
    const condition = quoted(`__hookswitch_is ${path === '' ? '""' : path.split(' ').join(' ')}`)
    return [
      ...choices.map(({ word, description }) => {
        const what = word.startsWith('--') ? `-l ${word.slice(2)}${optionArgument(word)}` : `-a ${word}`
        return `complete -c hookswitch -n ${condition} ${what} -d ${quoted(description)}`
      }),
      ...(takesFile ? [`complete -c hookswitch -n ${condition} -F`] : []),
    ]
  })
  function optionArgument(flag: string): string {
    const values = fixed.get(flag)
    if (values) return ` -x -a ${quoted(values.join(' '))}`
    if (files.includes(flag)) return ' -r -F'
    return free.includes(flag) ? ' -x' : ''
  }
  return `# Completion of hookswitch for fish: hookswitch completion fish > ~/.config/fish/completions/hookswitch.fish
function __hookswitch_is
    set -l command ''
    for word in (commandline -opc)[2..-1]
        switch (string trim "$command $word")
            case ${paths.map(quoted).join(' ')}
                set command (string trim "$command $word")
        end
    end
    test "$command" = "$argv"
end
complete -c hookswitch -f
${lines.join('\n')}
`
}
