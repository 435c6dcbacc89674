// The shapes of a host as a tree of their parts, for the terminal and the page: what shapes share stands above them.
import type { HostShapes, Shape } from './shape-report.ts'

export interface PartNode {
  readonly text: string
  /** URLs of the shapes in and below it. */
  count: number
  /** The shape that ends here. */
  shape?: Shape
  readonly children: PartNode[]
}

/** The tree of a host's listed shapes; children with more URLs come first. */
export function treeOfParts({ host, shapes }: HostShapes): PartNode {
  const root: PartNode = { text: host, count: 0, children: [] }
  for (const shape of shapes) {
    let node = root
    node.count += shape.count
    const parts = shape.parts.map((part) => (/^[?;]/.test(part) ? part : `/${part}`))
    for (const text of parts.length > 0 ? parts : ['/']) {
      let child = node.children.find((one) => one.text === text)
      if (child === undefined) {
        child = { text, count: 0, children: [] }
        node.children.push(child)
      }
      child.count += shape.count
      node = child
    }
    node.shape = shape
  }
  order(root)
  return root
}

function order(root: PartNode): void {
  const walk = [root]
  for (let node = walk.pop(); node !== undefined; node = walk.pop()) {
    node.children.sort((a, b) => b.count - a.count)
    walk.push(...node.children)
  }
}

/** A node with the only children below it joined to one: `/blog` and `/{year}` are `/blog/{year}`. */
export function joinOnlyChildren(node: PartNode): PartNode {
  let { text, count, shape, children } = node
  while (shape === undefined && children.length === 1) {
    const [child] = children as [PartNode]
    text += child.text
    count = child.count
    shape = child.shape as Shape
    children = child.children
  }
  return { text, count, ...(shape && { shape }), children: children.map(joinOnlyChildren) }
}
