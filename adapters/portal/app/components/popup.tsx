/**
 * A button that shows more below it. Escape and a click elsewhere close it, Escape gives the focus back to the button, and
 * the arrow keys move between what is inside.
 */
import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useId, useLayoutEffect, useRef } from 'preact/hooks'

interface PopupProps {
  /** Content of the button. */
  readonly button: ComponentChildren
  /** Classes of the button. */
  readonly class: string
  /** Name of the button; absent: its content. */
  readonly label?: string | undefined
  /** The edge of the button at which the content begins. Default: `start` */
  readonly align?: 'start' | 'end'
  /** Content; its argument closes it and gives the focus back. */
  readonly children: (close: () => void) => ComponentChildren
}

const REACHABLE = 'a[href], button:not(:disabled), input, select'

const reachableIn = (element: ParentNode) => [...element.querySelectorAll<HTMLElement>(REACHABLE)]

/** For content that comes later than it is opened: gives the focus to its first control. */
export function focusFirst(element: ParentNode): void {
  reachableIn(element)[0]?.focus()
}

export function Popup(props: PopupProps) {
  const { button, label, align = 'start', children } = props
  const isOpen = useSignal(false)
  const id = useId()
  const box = useRef<HTMLDivElement>(null)
  const open = isOpen.value
  const close = () => {
    isOpen.value = false
    box.current!.querySelector('button')!.focus()
  }
  useLayoutEffect(() => {
    if (!open) return
    const content = box.current!.querySelector('.popup')!
    focusFirst(content)
    const closeOutside = ({ target }: Event) => {
      if (!box.current!.contains(target as Node)) isOpen.value = false
    }
    const onKey = (event: KeyboardEvent) => {
      if (event.key === 'Escape') {
        event.stopPropagation()
        return close()
      }
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
      if (step === undefined || (event.target as HTMLElement).tagName === 'SELECT') return
      event.preventDefault()
      const all = reachableIn(content)
      const index = all.indexOf(document.activeElement as HTMLElement)
      all[(index + step + all.length) % all.length]?.focus()
    }
    const element = box.current!
    document.addEventListener('pointerdown', closeOutside)
    document.addEventListener('focusin', closeOutside)
    element.addEventListener('keydown', onKey)
    return () => {
      document.removeEventListener('pointerdown', closeOutside)
      document.removeEventListener('focusin', closeOutside)
      element.removeEventListener('keydown', onKey)
    }
  }, [open])
  return (
    <div ref={box} class="holder">
      <button
        type="button"
        class={props.class}
        aria-label={label}
        aria-expanded={open}
        aria-controls={id}
        onClick={() => {
          isOpen.value = !open
        }}
      >
        {button}
      </button>
      <div id={id} class={align === 'end' ? 'popup end' : 'popup'} hidden={!open}>
        {open && children(close)}
      </div>
    </div>
  )
}
