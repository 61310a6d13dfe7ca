/**
 * `t`: the texts of the page in the user's language. The English ones of the first screen are part of the page; those of
 * other screens, and other languages, are loaded when they are needed.
 */
import { effect, signal } from '@preact/signals'
import en from '../locales/en.json'
import type { FieldProblem } from '../text/field-problems.js'
import { numberFormat } from '../text/formats.js'
import type { MessageKey } from '../text/messages.js'
import { formatMessage, type Messages, type Parameters } from '../text/plural.js'
import { type Language, language } from './preferences.js'

interface Texts {
  readonly language: Language
  readonly messages: Messages
}

const texts = signal<Texts>({ language: 'en', messages: en })

const LOADERS: Readonly<Record<Exclude<Language, 'en'>, () => Promise<{ readonly default: Messages }>>> = {
  de: () => import('../locales/de.json'),
}

/** Whether the page has been shown in another language. */
let wasOther = false
let english: Messages = en
let loading: Promise<void> | undefined

/** Loads the texts of the screens that are not part of the first one. @throws when they cannot be loaded */
export async function loadTexts(): Promise<void> {
  if (language.value !== 'en') return
  loading ??= import('../locales/en.json?other').then(({ default: others }) => {
    english = { ...en, ...others }
    if (language.value === 'en') texts.value = { language: 'en', messages: english }
  })
  try {
    await loading
  } catch (thrown) {
    loading = undefined
    throw thrown
  }
}

effect(() => {
  const wanted = language.value
  document.documentElement.lang = wanted
  if (wanted === 'en') {
    texts.value = { language: 'en', messages: english }
    // Screens that are shown already need them too; where they cannot be loaded, the next screen says so.
    if (wasOther) loadTexts().catch(() => {})
    return
  }
  wasOther = true
  LOADERS[wanted]().then(
    (module) => {
      if (language.value === wanted) texts.value = { language: wanted, messages: module.default }
    },
    () => {
      // The texts could not be loaded: the page stays in the language that it has.
    },
  )
})

export function t(key: MessageKey, parameters?: Parameters): string {
  const { language: current, messages } = texts.value
  return formatMessage(messages, current, key, parameters)
}

/** The text of a key that the service chose, such as a state. `otherwise`: where there is no text; default: the word itself. */
export function word(
  prefix: 'state' | 'found' | 'result' | 'kind' | 'change' | 'cause' | 'type' | 'event' | 'match',
  name: string,
  otherwise = name,
): string {
  const key = `${prefix}.${name}`
  return Object.hasOwn(texts.value.messages, key) ? t(key as MessageKey) : otherwise
}

/** A cause or a class of a failure in a few words. */
export function failureText(name: string): string {
  const key = `failure.${name}`
  return Object.hasOwn(en, key) ? t(key as MessageKey) : word('cause', name)
}

/** What is wrong with a field: a text of the page where it has one for the rule, else the service's sentence. */
export function problemText({ places, rule, target, message }: FieldProblem): string {
  const text = ruleText(rule, target) ?? serviceText(message)
  return places.length === 0 ? text : `${places.join(', ')}: ${text}`
}

const serviceText = (details: string): string =>
  texts.value.language === 'en' ? details : t('error.service', { details })

function ruleText(rule: string, target: FieldProblem['target']): string | undefined {
  const key = `rule.${rule}`
  if (!Object.hasOwn(texts.value.messages, key)) return undefined
  if (typeof target === 'number') return t(key as MessageKey, { target })
  const possible = rule === 'type' ? target.map((type) => word('type', type)) : target
  return t(key as MessageKey, { target: possible.join(rule === 'type' ? ` ${t('rule.or')} ` : ', ') })
}

/** A number as the language writes it. */
export const number = (value: number): string => numberFormat(texts.value.language).format(value)

export const currentLanguage = (): Language => texts.value.language
