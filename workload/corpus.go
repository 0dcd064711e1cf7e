package workload

import "strings"

// Corpus names what synthetic text is made of.
type Corpus string

// The built-in corpora.
const (
	Prose   Corpus = "prose"   // English sentences; the default
	Code    Corpus = "code"    // short pieces of source code
	Chinese Corpus = "chinese" // Chinese sentences
	Mixed   Corpus = "mixed"   // all of them
)

// sentences returns the pieces of a corpus, each with the separator that
// stands in front of it and the ends of the parts it may be cut after.
func (c Corpus) sentences() []sentence {
	switch c {
	case Code:
		return codeSentences()
	case Chinese:
		return chineseSentences()
	case Mixed:
		return append(append(proseSentences(), codeSentences()...), chineseSentences()...)
	}
	return proseSentences()
}

type sentence struct {
	text string
	ends []int // byte lengths of its beginnings that may stand alone; the last is all
}

func proseSentences() []sentence {
	var list []sentence
	for line := range strings.Lines(english) {
		list = append(list, cut(" "+strings.TrimSpace(line), ' '))
	}
	return list
}

func codeSentences() []sentence {
	var list []sentence
	for piece := range strings.SplitSeq(strings.TrimSpace(source), "\n--\n") {
		list = append(list, cut("\n"+piece, '\n'))
	}
	return list
}

func chineseSentences() []sentence {
	var list []sentence
	for line := range strings.Lines(chinese) {
		s := sentence{text: "\n" + strings.TrimSpace(line)}
		for i, r := range s.text {
			if r == '，' || r == '。' || r == '：' {
				s.ends = append(s.ends, i+len(string(r)))
			}
		}
		list = append(list, s)
	}
	return list
}

// cut finds the ends of words or lines: before each separator but the first.
func cut(text string, separator byte) sentence {
	s := sentence{text: text}
	for i := 1; i < len(text); i++ {
		if text[i] == separator {
			s.ends = append(s.ends, i)
		}
	}
	s.ends = append(s.ends, len(text))
	return s
}

// words returns the different plain words of the English corpus, in lower
// case and in order of appearance.
func words() []string {
	seen := map[string]bool{}
	var list []string
	for w := range strings.FieldsSeq(english) {
		w = strings.ToLower(strings.Trim(w, ".,;:?"))
		if len(w) >= 3 && !seen[w] && strings.Trim(w, "abcdefghijklmnopqrstuvwxyz") == "" {
			seen[w] = true
			list = append(list, w)
		}
	}
	return list
}

const english = `The harbour wakes before the town does, and the first ferry leaves while the bakers are still pulling bread from their ovens.
A good bridge carries its weight so quietly that nobody who crosses it thinks about steel, wind or water.
When the river rose in spring, the farmers moved their cattle to the long meadow behind the chapel and waited.
Every measurement is a story about two things, the object on the table and the instrument that looked at it.
She kept the letters in a tin box under the stairs, sorted by year and tied with green string.
The committee asked for a short report, received a long one, and decided to postpone the question until autumn.
Nothing in the old observatory worked as it should, yet the records from that winter are the best we have.
If the queue grows faster than the workers can empty it, waiting time has no upper limit and promises become worthless.
Most travellers remember the mountain road for its view, but the driver remembers the eleven bends without a railing.
To repair a violin you need patience, warm glue, a small mirror and a very clear idea of what it sounded like before.
The market opens at six, closes at noon, and in between changes the price of fish at least a dozen times.
Memory is cheap until the moment it runs out, and then it becomes the most expensive thing in the building.
He explained the rules of the game twice, once for the children and once for their uncle from the city.
Rain fell on the tin roof all night, so the concert was moved into the school hall at short notice.
A map with a mistake is more dangerous than no map, because people walk with confidence in the wrong direction.
The library lends books, tools, telescopes and, since last year, a pair of skis for beginners.
Our grandmother measured flour with a cracked cup and never once made a cake that failed.
Before you change the valve, close the main supply, open the lower tap and let the pressure fall to zero.
The museum bought the painting for its frame, which turned out to be older than the picture inside it.
Two engineers can disagree about the cause of a fault for weeks and still repair it together in an afternoon.
In the desert the temperature drops so quickly after sunset that stones crack with a sound like distant gunfire.
Please compare both offers, list the hidden costs, and tell me which one you would choose with your own money.
The train was late because of snow, the snow was late because of the wind, and nobody was surprised by either.
Bees find their way home by the angle of the sun, by landmarks, and by the smell of their own hive.
An honest average needs its spread beside it, or it hides exactly the cases that people complain about.
The island has one doctor, two shops, three churches and more opinions than the mainland can imagine.
They planted oaks where the factory had stood, knowing that only their grandchildren would sit in the shade.
Write the summary first, then the details, and leave out everything that you would skip as a reader.
The clock in the square has been seven minutes slow since the war, and the town has grown fond of it.
A kitchen with sharp knives is safer than one with dull ones, though it takes courage to believe that.
Small boats turn quickly, large ships turn slowly, and harbours must be built for both.
The violinist practised the same four bars until the neighbours could whistle them in their sleep.
Glass is neither quite a solid nor a liquid, and old windows are thicker at the bottom for other reasons.
At the border they looked at our papers, at our shoes, and finally with great interest at the cheese.
You can learn a language from books, but you will be laughed at in it only by talking to people.
The storm took the roof of the barn and left it, almost undamaged, in the field of a man who needed one.
Three witnesses saw the accident, and each of them described a different car in a different colour.
Coffee grown high in the hills ripens slowly and tastes of it, which is why the early frost worried everyone.
Whenever the printer stopped, somebody kicked it, and for eleven years this was written in the manual.
The teacher drew a circle on the board and asked the class how one could possibly know that it was round.
Salt was once worth a journey of forty days, and the road that carried it still bears its name.
Winter light in the north is thin and blue, and photographs taken in it look older than they are.
A contract should say what happens when things go wrong, since nobody reads it while they go well.
The orchestra tuned, the lights went down, and a telephone in the third row began to ring.
Some questions are hard because the answer is unknown, others because it is known and unwelcome.
The baker's daughter studied chemistry and came home to explain why the bread had always been right.
From the tower you can see the whole valley: the mill, the quarry, the new road and the smoke of the brickworks.
If two clocks disagree, ask which of them was set more recently, and by whom, before you trust either.
The garden was planned on paper, dug by hand, ruined by goats and finally saved by a better fence.
Fishermen say that the sea gives back what it takes, but never to the same person or in the same place.
Careful people write down the time, the weather and the mood they were in before they begin an experiment.
The new elevator is faster than the old one, yet the complaints stopped only when a mirror was hung beside it.
Two cups of rice, a pinch of saffron, good stock and the patience not to stir will take you most of the way.
When the lamp went out, the children told stories until the youngest was too frightened to sleep and too tired not to.
The airline apologised for the delay, then for the apology, which had been sent to the wrong passengers.
Stone walls without mortar stand for centuries because every stone rests on two and is held by its own weight.
He sold the horse, bought a bicycle, and spent the difference on a hat that lasted longer than both.
The river changes its bed every few hundred years, and the border, drawn along it, became a matter for lawyers.
A list of known faults, kept honestly and read by everyone, is worth more than a promise of perfection.
In the archive lies a single page about the fire, written by a clerk who spelled every name differently.
The lighthouse needs no keeper now, but somebody still climbs the stairs on Sundays to wind the clock.
Good soil smells of rain, and poor soil smells of nothing at all.
Ask what the number was divided by, and half of all arguments in the meeting will be over.
The last bus leaves at ten, unless the driver's football team is playing, in which case it leaves when they have won.
`

const source = `func clamp(value, low, high int) int {
	if value < low {
		return low
	}
	if value > high {
		return high
	}
	return value
}
--
def moving_average(values, width):
    total = 0.0
    result = []
    for index, value in enumerate(values):
        total += value
        if index >= width:
            total -= values[index - width]
        result.append(total / min(index + 1, width))
    return result
--
SELECT customer, COUNT(*) AS orders, SUM(amount) AS total
FROM purchases
WHERE placed_at >= '2024-01-01'
GROUP BY customer
HAVING SUM(amount) > 1000
ORDER BY total DESC
LIMIT 20;
--
class Stack {
  constructor() { this.items = []; }
  push(item) { this.items.push(item); }
  pop() { return this.items.pop(); }
  get size() { return this.items.length; }
}
--
for file in reports/*.csv; do
  lines=$(wc -l < "$file")
  echo "$file has $lines lines"
done
--
struct Point { double x, y; };
double distance(const Point& a, const Point& b) {
  const double dx = a.x - b.x, dy = a.y - b.y;
  return std::sqrt(dx * dx + dy * dy);
}
--
fn count_words(text: &str) -> HashMap<&str, usize> {
    let mut counts = HashMap::new();
    for word in text.split_whitespace() {
        *counts.entry(word).or_insert(0) += 1;
    }
    counts
}
--
service:
  name: gateway
  replicas: 3
  ports: [8080, 9090]
  limits: {cpu: "2", memory: 4Gi}
--
interface Shape { double area(); }
record Circle(double radius) implements Shape {
    public double area() { return Math.PI * radius * radius; }
}
--
const retry = async (action, attempts) => {
  for (let i = 0; i < attempts; i++) {
    try { return await action(); } catch (error) { if (i + 1 === attempts) throw error; }
  }
};
--
{"id": 4711, "status": "open", "tags": ["urgent", "billing"], "owner": null, "score": 0.82}
--
<ul class="menu">
  <li><a href="/start">Start</a></li>
  <li><a href="/about">About us</a></li>
</ul>
`

const chinese = `清晨的港口很安静，第一班渡船离开的时候，面包师还在烤炉旁边忙碌。
一座好桥默默地承受重量，走在上面的人从来不会想到钢铁和风。
春天河水上涨，农民把牛羊赶到山坡后面的草地，然后耐心等待。
每一次测量都有两个主角，一个是桌上的物体，另一个是看着它的仪器。
她把信放在楼梯下面的铁盒里，按年份排列，用绿色的绳子捆好。
委员会要一份简短的报告，收到的却很长，于是决定秋天再讨论。
如果排队的人比处理得更快，等待的时间就没有上限，承诺也没有意义。
修理小提琴需要耐心，需要温热的胶水，还要记得它原来的声音。
市场六点开门，中午关门，鱼的价格在这中间至少要变十几次。
内存在用完之前总是便宜的，用完之后就成了整栋楼里最贵的东西。
雨在铁皮屋顶上下了一整夜，音乐会只好临时搬进学校的礼堂。
有错误的地图比没有地图更危险，因为人们会自信地走向错误的方向。
图书馆出借书籍和工具，从去年开始，还出借一副初学者的滑雪板。
换阀门之前，先关总水管，再打开下面的龙头，让压力降到零。
两位工程师可以为故障的原因争论几个星期，却能在一个下午把它修好。
沙漠里太阳落山以后气温下降得很快，石头裂开的声音像远处的枪声。
请比较两份报价，列出隐藏的费用，告诉我你自己会选哪一个。
诚实的平均值旁边要写上它的离散程度，否则它会掩盖人们抱怨的情况。
岛上有一位医生，两家商店，三座教堂，还有说不完的意见。
先写摘要，再写细节，凡是你作为读者会跳过的内容都应当删去。
广场上的钟慢了七分钟，几十年来没有人去调，大家已经喜欢上它了。
小船转弯快，大船转弯慢，港口必须为两者而建。
学语言可以靠书本，但是只有和人说话的时候，才会被人笑着纠正。
如果两只钟不一致，先问哪一只最近校准过，又是谁校准的。
花园先画在纸上，再用手挖出来，被山羊毁了一次，最后靠一道好篱笆保住。
有些问题难在没有答案，有些问题难在答案大家都知道却不想听。
从塔上可以看见整个山谷：磨坊，采石场，新修的公路，还有砖厂的烟。
一份诚实的缺陷清单，只要每个人都读，比完美的承诺更有价值。
末班车十点开，除非司机喜欢的球队在比赛，那样就要等他们赢了才开。
好的土壤有雨的气味，贫瘠的土壤什么气味也没有。
`
